import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createShortCodes, readShortCode } from '../../services/transactions/transaction/short-link.ts';

const [first, second] = [randomBytes(32), randomBytes(32)];
const codes = createShortCodes([first, second]);

it('is ten letters and digits, the same for the same thing, and found after a rotation of the secret', () => {
  const rotated = createShortCodes([randomBytes(32), first]);
  fc.assert(
    fc.property(fc.string(), fc.string(), (one, other) => {
      const { code, digest } = codes.codeOf(one);
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
      expect(codes.codeOf(one)).toEqual({ code, digest });
      if (one !== other) expect(codes.codeOf(other).code).not.toBe(code);
      expect(rotated.digestsOf(code)).toContainEqual(digest);
      expect(createShortCodes([second]).digestsOf(code)).not.toContainEqual(digest);
      expect(digest.includes(Buffer.from(code))).toBe(false);
    }),
  );
});

it('is read as people type it, and nothing else is', () => {
  const typed = fc.array(fc.constantFrom(' ', '-', ''), { minLength: 10, maxLength: 10 });
  fc.assert(
    fc.property(fc.string(), typed, fc.boolean(), (thing, between, isLower) => {
      const { code } = codes.codeOf(thing);
      const spelled = [...code].map((letter, index) => letter + between[index]).join('');
      const alike = spelled.replaceAll('0', 'O').replaceAll('1', isLower ? 'L' : 'I');
      expect(readShortCode(isLower ? alike.toLowerCase() : alike)).toBe(code);
    }),
  );
  for (const other of ['', '7ZK3PQXW4', '7ZK3PQXW4TT', '7ZK3PQXW4U', '7ZK3PQXW4é', '../../../..'])
    expect(readShortCode(other)).toBeUndefined();
});
