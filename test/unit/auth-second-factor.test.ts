import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressOf,
  codeAt,
  drawRecoveryCodes,
  drawSecret,
  readEntered,
  stepOf,
} from '../../services/auth/domain/second-factor.ts';

/** `12345678901234567890`, the secret of the RFCs' test values, in base 32. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('codes of an authenticator app', () => {
  it.each(
    [755224, 287082, 359152, 969429, 338314, 254676, 287922, 162583, 399871, 520489].map(
      (code, step) => [step, code] as const,
    ),
  )('are those of RFC 4226, appendix D: number %i is %i', (step, code) => {
    expect(codeAt(secret, step)).toBe(String(code));
  });

  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('are those of RFC 6238, appendix B: after %i seconds %s', (seconds, code) => {
    expect(stepOf(secret, code, seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it('count for the step before and after, as clocks differ, and for no other', () => {
    const step = 1000;
    const accepted = [997, 998, 999, 1000, 1001, 1002, 1003].filter(
      (each) => stepOf(secret, codeAt(secret, each), step * 30_000) === each,
    );
    expect(accepted).toEqual([999, 1000, 1001]);
  });

  it('come of a secret of 160 bits that apps can read', () => {
    const drawn = drawSecret();
    expect(drawn).toMatch(/^[A-Z2-7]{32}$/);
    expect(drawSecret()).not.toBe(drawn);
    const address = new URL(addressOf(drawn, { issuer: 'St. Anne & Co', name: 'jane:doe' }));
    expect(address.href).toMatch(/^otpauth:\/\/totp\/St\.%20Anne%20%26%20Co:jane%3Adoe\?/);
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      secret: drawn,
      issuer: 'St. Anne & Co',
    });
  });
});

describe('what a person enters', () => {
  it('may have spaces, small letters, and letters that look like digits', () => {
    expect(readEntered(' 123 456 ')).toEqual({ kind: 'app', code: '123456' });
    expect(readEntered('ab1d2-o0il3')).toEqual({ kind: 'recovery', code: 'AB1D200113' });
    for (const text of ['', '12345', '1234567', 'ABCDE-FGHJU', 'ABCDEFGHJKM'])
      expect(readEntered(text)).toBeUndefined();
  });

  it('is read in every way in which a recovery code can be typed', () => {
    for (const code of drawRecoveryCodes()) {
      const wanted = { kind: 'recovery', code: code.replace('-', '') };
      for (const typed of [code, code.toLowerCase(), code.replace('-', ''), code.replace('-', ' ')])
        expect(readEntered(typed)).toEqual(wanted);
    }
  });

  it('is never more than a code, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        const read = readEntered(text);
        expect(read === undefined || /^(\d{6}|[0-9A-HJKMNP-TV-Z]{10})$/.test(read.code)).toBe(true);
      }),
    );
  });
});
