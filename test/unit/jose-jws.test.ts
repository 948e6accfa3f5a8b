import fc from 'fast-check';
import { CompactSign, exportJWK, generateKeyPair, type JWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { provePayload, readCompactJws, type SignatureAlgorithm } from '#lib/jose/jws.ts';

const algorithms: SignatureAlgorithm[] = ['ES256', 'EdDSA'];
const pairs = {
  ES256: await generateKeyPair('ES256', { extractable: true }),
  EdDSA: await generateKeyPair('EdDSA', { extractable: true }),
};
const keys: Record<SignatureAlgorithm, JWK> = {
  ES256: await exportJWK(pairs.ES256.publicKey),
  EdDSA: await exportJWK(pairs.EdDSA.publicKey),
};
const payload = Buffer.from('{"iss":"المستشفى"}');

function signedByJose(alg: SignatureAlgorithm, bytes: Uint8Array = payload): Promise<string> {
  return new CompactSign(bytes).setProtectedHeader({ alg, typ: 't', kid: 'k' }).sign(pairs[alg].privateKey);
}

function prove(jws: string, alg: SignatureAlgorithm, key = keys[alg]): string | undefined {
  const read = readCompactJws(jws);
  return read && provePayload(read, key, alg)?.toString();
}

function withHeader(jws: string, header: object): string {
  return [Buffer.from(JSON.stringify(header)).toString('base64url'), ...jws.split('.').slice(1)].join('.');
}

describe.each(algorithms)('a JWS with %s', (alg) => {
  it('of jose’s is read, whatever is in it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), async (bytes) => {
        const read = readCompactJws(await signedByJose(alg, bytes));
        expect(read?.header).toEqual({ alg, typ: 't', kid: 'k' });
        expect(read && provePayload(read, keys[alg], alg)).toEqual(Buffer.from(bytes));
      }),
      { numRuns: 30 },
    );
  });

  it('is not believed when a letter of any part was changed', async () => {
    const parts = (await signedByJose(alg)).split('.');
    for (const [index, part] of parts.entries())
      for (const at of [0, Math.floor(part.length / 2)]) {
        const changed = `${part.slice(0, at)}${part[at] === 'A' ? 'B' : 'A'}${part.slice(at + 1)}`;
        expect(prove(parts.with(index, changed).join('.'), alg)).toBeUndefined();
      }
  });

  it('is not believed under another key, or as one of another algorithm', async () => {
    const jws = await signedByJose(alg);
    const stranger = await generateKeyPair(alg, { extractable: true });
    expect(prove(jws, alg, await exportJWK(stranger.publicKey))).toBeUndefined();
    for (const other of algorithms.filter((each) => each !== alg)) {
      expect(prove(jws, other)).toBeUndefined();
      expect(prove(jws, alg, keys[other])).toBeUndefined();
    }
  });

  it.each([
    ['none', { alg: 'none' }],
    ['HS256', { alg: 'HS256' }],
    ['no algorithm', {}],
    ['what has to be understood', { crit: ['b64'], b64: false }],
  ])('is not believed under a header that names %s', async (_name, changes) => {
    const header = { ...('crit' in changes && { alg }), ...changes };
    expect(prove(withHeader(await signedByJose(alg), header), alg)).toBeUndefined();
  });

  it.each([
    ['is missing', () => ''],
    ['is too short', (text: string) => text.slice(0, 40)],
    ['is too long', (text: string) => `${text}AAAA`],
    ['is nothing but zeros', () => Buffer.alloc(64).toString('base64url')],
    [
      'is in DER',
      () => Buffer.concat([Buffer.from([0x30, 68, 2, 32]), Buffer.alloc(66, 1)]).toString('base64url'),
    ],
  ])('is not believed when the signature %s', async (_name, change) => {
    const [header, body, signature] = (await signedByJose(alg)).split('.') as [string, string, string];
    expect(prove([header, body, change(signature)].join('.'), alg)).toBeUndefined();
  });
});

it.each([
  '',
  'a',
  'a.b',
  'a.b.c',
  'e30.e30',
  'e30.e30.AAAA.AAAA',
  '..',
  'W10.e30.AAAA',
  'bnVsbA.e30.AAAA',
  '/w.e30.AAAA',
])('%j is no JWS', (text) => {
  expect(readCompactJws(text)).toBeUndefined();
});

it('what is no base64url is not believed', async () => {
  const jws = await signedByJose('ES256');
  for (const changed of [`${jws}=`, `${jws} `, jws.replace(/\.([^.]*)$/, '.$1\n'), jws.replace('.', '.=')])
    expect(prove(changed, 'ES256')).toBeUndefined();
});
