import { createPrivateKey, generateKeyPairSync, type JsonWebKeyInput } from 'node:crypto';
import fc from 'fast-check';
import { base64url, CompactEncrypt, compactDecrypt, importJWK, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { decryptCompact, encryptCompact, readCompact } from '#lib/jose/jwe.ts';
import { publicKeyOf, readPublicKey } from '#lib/jose/keys.ts';

const drawn = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = drawn.publicKey.export({ format: 'jwk' }) as JWK;
const plaintext = Buffer.from('نعم, accepted');
const forEncryption = { alg: 'ECDH-ES', enc: 'A256GCM' };

/** What jose makes of it. */
async function encryptedByJose(
  changes: Record<string, unknown> = {},
  parties?: { apu: Uint8Array; apv: Uint8Array },
): Promise<string> {
  const jwe = new CompactEncrypt(plaintext).setProtectedHeader({ ...forEncryption, ...changes });
  if (parties) jwe.setKeyManagementParameters(parties);
  return jwe.encrypt(await importJWK(jwk, 'ECDH-ES'));
}

function decrypt(text: string, key = drawn.privateKey): string | undefined {
  const jwe = readCompact(text);
  return jwe && decryptCompact(jwe, key)?.toString();
}

function withHeader(text: string, change: (header: Record<string, unknown>) => object): string {
  const [header, ...rest] = text.split('.') as [string, ...string[]];
  const read = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>;
  return [Buffer.from(JSON.stringify(change(read))).toString('base64url'), ...rest].join('.');
}

describe('a JWE', () => {
  it('made here is read by jose, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5_000 }), async (bytes) => {
        const jwe = encryptCompact(bytes, { key: publicKeyOf(jwk), more: { kid: 'k', sid: 'ä' } });
        const read = await compactDecrypt(jwe, drawn.privateKey);
        expect(Buffer.from(read.plaintext)).toEqual(Buffer.from(bytes));
        expect(read.protectedHeader).toMatchObject({ ...forEncryption, kid: 'k', sid: 'ä' });
      }),
      { numRuns: 50 },
    );
  });

  it('made by jose is decrypted', async () => {
    expect(decrypt(await encryptedByJose())).toBe(plaintext.toString());
  });

  it('with party information is refused', async () => {
    const parties = { apu: base64url.decode('QWxpY2U'), apv: base64url.decode('Qm9i') };
    expect(readCompact(await encryptedByJose({}, parties))).toBeUndefined();
  });

  it('cannot be told another way to encrypt by what it is made for', () => {
    const jwe = encryptCompact(plaintext, { key: publicKeyOf(jwk), more: { alg: 'dir', enc: 'none' } });
    expect(readCompact(jwe)?.header).toMatchObject(forEncryption);
  });

  it('for another key is not read', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    expect(decrypt(await encryptedByJose(), other.privateKey)).toBeUndefined();
  });

  it.each([
    ['cut short', (parts: string[]) => parts.slice(0, 4)],
    ['with a part too many', (parts: string[]) => [...parts, '']],
    ['with a wrapped key, which it has not', (parts: string[]) => parts.with(1, 'AAAA')],
    ['with half an authentication tag', (parts: string[]) => parts.with(4, (parts[4] ?? '').slice(0, 11))],
    ['without an authentication tag', (parts: string[]) => parts.with(4, '')],
    ['with an IV of another length', (parts: string[]) => parts.with(2, 'AAAA')],
    ['with letters that are none of base64url', (parts: string[]) => parts.with(3, `${parts[3]}=`)],
    ['whose header is no JSON', (parts: string[]) => parts.with(0, 'AAAA')],
    ['whose header is null', (parts: string[]) => parts.with(0, Buffer.from('null').toString('base64url'))],
  ])('%s is none', async (_name, change) => {
    const parts = (await encryptedByJose()).split('.');
    expect(readCompact(change(parts).join('.'))).toBeUndefined();
  });

  it.each([
    ['another agreement', { alg: 'ECDH-ES+A256KW' }],
    ['no agreement at all', { alg: 'dir' }],
    ['another cipher', { enc: 'A128GCM' }],
    ['compression', { zip: 'DEF' }],
    ['an extension that has to be understood', { crit: ['b64'], b64: false }],
  ])('that names %s is none', async (_name, changes) => {
    const jwe = withHeader(await encryptedByJose(), (header) => ({ ...header, ...changes }));
    expect(readCompact(jwe)).toBeUndefined();
  });

  it.each([
    ['is missing', undefined],
    ['is null', null],
    ['is a text', 'AAAA'],
    [
      'is on another curve',
      generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' }),
    ],
    ['is not on its curve', { ...jwk, y: jwk.x }],
    ['is the point at infinity', { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) }],
    ['lacks a coordinate', { kty: 'EC', crv: 'P-256', x: jwk.x }],
    ['has a coordinate that is a number', { kty: 'EC', crv: 'P-256', x: 1, y: jwk.y }],
  ])('whose key %s is not read', async (_name, epk) => {
    expect(decrypt(withHeader(await encryptedByJose(), (header) => ({ ...header, epk })))).toBeUndefined();
  });

  it.each([
    ['a number', 1],
    ['no base64url', 'a b'],
    ['another one', 'QWxpY2U'],
  ])('whose party is %s is not read', async (_name, apu) => {
    expect(decrypt(withHeader(await encryptedByJose(), (header) => ({ ...header, apu })))).toBeUndefined();
  });
});

it('a key is read from a private one without its secret', () => {
  const secret = drawn.privateKey.export({ format: 'jwk' }) as JWK;
  expect(readPublicKey(secret)?.type).toBe('public');
  expect(createPrivateKey({ key: secret, format: 'jwk' } as JsonWebKeyInput).type).toBe('private');
});
