import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  base62,
  createKeyedHash,
  drawApiKey,
  readApiKeyId,
  resemblesApiKey,
} from '../../services/auth/domain/api-keys.ts';

const pepper = (fill: number) => new Uint8Array(32).fill(fill);

describe('an API key', () => {
  it('has an id, 256 bits in 43 characters and a checksum', () => {
    const key = drawApiKey('0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11');
    expect(key).toMatch(/^acc_0197a1f058c17b1e9c1d3f0c2b8f4a11_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
    expect(resemblesApiKey(key)).toBe(true);
  });

  it('tells its id', () => {
    fc.assert(fc.property(fc.uuid(), (id) => readApiKeyId(drawApiKey(id)) === id));
  });

  it('is never drawn twice', () => {
    const id = '0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11';
    expect(new Set(Array.from({ length: 500 }, () => drawApiKey(id))).size).toBe(500);
  });

  it('with one character changed is no key, and is told so without a database', () => {
    const key = drawApiKey('0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11');
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: key.length - 1 }),
        fc.constantFrom(...'0aZ_é \0'),
        (at, character) => {
          const changed = key.slice(0, at) + character + key.slice(at + 1);
          return changed === key || readApiKeyId(changed) === undefined;
        },
      ),
    );
  });

  it('is read from no other text, whatever it is', () => {
    fc.assert(fc.property(fc.string(), (text) => readApiKeyId(text) === undefined));
  });
});

describe('base 62', () => {
  it('writes different bytes differently, in a fixed length', () => {
    const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const [a, b] = [base62(one, 43), base62(other, 43)];
        return a.length === 43 && (a === b) === Buffer.from(one).equals(other);
      }),
    );
  });
});

describe('the keyed hash of a secret', () => {
  it('matches the secret and no other', () => {
    const hash = createKeyedHash([pepper(1)]);
    expect(hash.matches('secret', hash.hash('secret'))).toBe(true);
    expect(hash.matches('secret ', hash.hash('secret'))).toBe(false);
    expect(hash.matches('secret', undefined)).toBe(false);
    expect(hash.matches('secret', new Uint8Array())).toBe(false);
  });

  it('is worth nothing without the pepper, and outlives a change of pepper', () => {
    const former = createKeyedHash([pepper(1)]);
    expect(createKeyedHash([pepper(2)]).matches('secret', former.hash('secret'))).toBe(false);
    expect(createKeyedHash([pepper(2), pepper(1)]).matches('secret', former.hash('secret'))).toBe(true);
  });
});
