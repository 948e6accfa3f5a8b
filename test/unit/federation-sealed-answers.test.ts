import fc from 'fast-check';
import { CompactEncrypt, importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import { openAnswers, sealAnswers } from '#lib/federation/sealed-answers.ts';

const owner = readPrivateKey(generatePrivateKey());
const older = readPrivateKey(generatePrivateKey());
const stranger = readPrivateKey(generatePrivateKey());
const now = new Date('2026-03-01T12:00:00Z');
const header = {
  sid: 'A'.repeat(22),
  leader: 'https://hospital.example',
  digest: 'x'.repeat(43),
  exp: now.getTime() / 1000 + 3600,
};
const publicKey = (key = owner) => publicPart(key) as ReturnType<typeof publicPart> & { kid: string };
const asked = { language: 'en', info: 'element/information/i/1.0', elements: ['element/processing/a/1.0'] };
const content = {
  ...asked,
  language: 'ar',
  answers: { 'element/processing/a/1.0': ['نعم'], 'element/preference/b/2.1': [] },
};

describe('answers sealed to their owner', () => {
  it('are opened with their header by the owner, whichever of its keys they are sealed to', () => {
    for (const key of [owner, older]) {
      const sealed = sealAnswers(content, { key: publicKey(key), header });
      expect(openAnswers(sealed, { keys: [owner, older], now })).toEqual({
        opened: true,
        header,
        content,
      });
    }
  });

  it('say whether their address was confirmed, and nothing else counts as true', () => {
    for (const [stated, read] of [
      [true, true],
      ['true', undefined],
      [1, undefined],
      [false, undefined],
    ]) {
      const sealed = sealAnswers({ ...content, addressConfirmed: stated } as typeof content, {
        key: publicKey(),
        header,
      });
      const opened = openAnswers(sealed, { keys: [owner], now });
      expect(opened.opened && opened.content.addressConfirmed).toBe(read);
    }
  });

  it('may have contact data beside them; unknown members and other types are ignored', () => {
    const openWith = (more: object) => {
      const opened = openAnswers(sealAnswers({ ...content, ...more }, { key: publicKey(), header }), {
        keys: [owner],
        now,
      });
      return opened.opened && opened.content;
    };
    const subjectInfos = { emailAddress: 'ann@example.org', phoneNumber: '+33639980001' };
    expect(openWith({ subjectInfos })).toEqual({ ...content, subjectInfos });
    expect(openWith({ subjectInfos: { ...subjectInfos, born: '1970' }, later: [1] })).toEqual({
      ...content,
      subjectInfos,
    });
    const { emailAddress } = subjectInfos;
    expect(openWith({ subjectInfos: { emailAddress, phoneNumber: 7 } })).toEqual({
      ...content,
      subjectInfos: { emailAddress },
    });
    for (const other of [null, 'ann@example.org', ['ann@example.org'], {}, { emailAddress: ['a'] }])
      expect(openWith({ subjectInfos: other })).toEqual(content);
  });

  it('are the same after opening, for any content', () => {
    const answers = fc.dictionary(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.string({ unit: 'grapheme' })),
      {
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(answers, (map) => {
        const asSent = JSON.parse(JSON.stringify(map)) as Record<string, string[]>;
        const sealed = sealAnswers({ ...asked, answers: asSent }, { key: publicKey(), header });
        const opened = openAnswers(sealed, { keys: [owner], now });
        expect(opened.opened && opened.content.answers).toEqual(asSent);
      }),
      { numRuns: 50 },
    );
  });

  it('are nowhere to be read without the key, and never look the same twice', () => {
    const marked = { ...asked, answers: { a: ['MARKED-ANSWER'] } };
    const [one, two] = [1, 2].map(() => sealAnswers(marked, { key: publicKey(), header })) as [
      string,
      string,
    ];
    expect(one).not.toBe(two);
    for (const part of one.split('.'))
      expect(Buffer.from(part, 'base64url').toString('latin1')).not.toContain('MARKED-ANSWER');
    expect(openAnswers(one, { keys: [stranger], now })).toEqual({
      opened: false,
      fault: 'unknown-key',
    });
  });

  it('reveal only the number of kilobytes', () => {
    const lengths = [0, 1, 10, 500].map((length) => {
      const answers = { a: ['x'.repeat(length)] };
      return sealAnswers({ ...asked, answers }, { key: publicKey(), header }).length;
    });
    expect(new Set(lengths).size).toBe(1);
  });

  it('are refused when a letter of any part was changed', () => {
    const sealed = sealAnswers(content, { key: publicKey(), header });
    const parts = sealed.split('.');
    for (const [index, part] of parts.entries()) {
      if (part === '') continue;
      const changed = parts.with(index, (part.startsWith('A') ? 'B' : 'A') + part.slice(1)).join('.');
      expect(openAnswers(changed, { keys: [owner], now }).opened).toBe(false);
    }
  });

  it('are refused under another header than the one they were sealed with', () => {
    const sealed = sealAnswers(content, { key: publicKey(), header });
    const forged = { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'accord-answers', kid: owner.kid, ...header };
    const [, ...rest] = sealed.split('.');
    const withHeader = (changes: object) =>
      [Buffer.from(JSON.stringify({ ...forged, ...changes })).toString('base64url'), ...rest].join('.');
    for (const changes of [
      { sid: 'B'.repeat(22) },
      { leader: 'https://evil.example' },
      { exp: header.exp + 1 },
    ])
      expect(openAnswers(withHeader(changes), { keys: [owner], now })).toEqual({
        opened: false,
        fault: 'not-authentic',
      });
  });

  it('are refused after `exp`', () => {
    const sealed = sealAnswers(content, { key: publicKey(), header });
    const late = new Date((header.exp + 1) * 1000);
    expect(openAnswers(sealed, { keys: [owner], now: late })).toEqual({
      opened: false,
      fault: 'expired',
    });
  });

  it.each([
    ['compressed', { zip: 'DEF' }, 'form'],
    ['of another algorithm', { enc: 'A128GCM' }, 'form'],
    ['of another type', { typ: 'JWT' }, 'form'],
    ['of no type', { typ: undefined }, 'form'],
    ['without a submission', { sid: undefined }, 'form'],
    ['with an end that is no time', { exp: 'tomorrow' }, 'form'],
  ])('%s are refused', async (_name, changes, fault) => {
    const always = { alg: 'ECDH-ES', enc: 'A256GCM', typ: 'accord-answers', kid: owner.kid };
    const protectedHeader = { ...always, ...header, ...changes };
    const bytes = new TextEncoder().encode(JSON.stringify(content));
    const sealed = await new CompactEncrypt(bytes)
      .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' })
      .encrypt(await importJWK(publicKey(), 'ECDH-ES'));
    const [, ...rest] = sealed.split('.');
    const forged = [Buffer.from(JSON.stringify(protectedHeader)).toString('base64url'), ...rest].join('.');
    expect(openAnswers(forged, { keys: [owner], now })).toEqual({ opened: false, fault });
  });

  it.each([
    'no JSON',
    '[]',
    'null',
    '{"language":"en"}',
    ...[
      { language: 1 },
      { info: undefined },
      { elements: undefined },
      { elements: 'element/processing/a/1.0' },
      { elements: [1] },
      { answers: [] },
      { answers: null },
      { answers: { a: 'yes' } },
      { answers: { a: [1] } },
    ].map((change) => JSON.stringify({ ...content, ...change })),
  ])('that hold %s are refused', async (plaintext) => {
    const sealed = await new CompactEncrypt(new TextEncoder().encode(plaintext))
      .setProtectedHeader({
        alg: 'ECDH-ES',
        enc: 'A256GCM',
        typ: 'accord-answers',
        kid: owner.kid,
        ...header,
      })
      .encrypt(await importJWK(publicKey(), 'ECDH-ES'));
    expect(openAnswers(sealed, { keys: [owner], now })).toEqual({ opened: false, fault: 'content' });
  });

  it.each(['', 'x', 'a.b.c.d.e', `${'x'.repeat(3_000_000)}`])('garbage is refused', (sealed) => {
    expect(openAnswers(sealed, { keys: [owner], now })).toEqual({ opened: false, fault: 'form' });
  });
});
