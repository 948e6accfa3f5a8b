import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import {
  compactVerify,
  decodeProtectedHeader,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose';
import { describe, expect, it } from 'vitest';
import { createReceiptSigner } from '../../services/transactions/receipts/receipt.ts';
import { mintLinks } from '../../services/transactions/transaction/links.ts';
import { createTransactionTokens } from '../../services/transactions/transaction/token.ts';
import type { ReadTransaction } from '../../services/transactions/transaction/transaction.ts';

const baseUrl = 'http://localhost:8080';
const claims = { id: 'a'.repeat(22), use: 'tx', epoch: 0 } as const;
const secret = randomBytes(32);
const inAnHour = () => new Date(Date.now() + 3_600_000);
const tokensOf = (secrets: Uint8Array[], now?: () => number) =>
  createTransactionTokens({ secrets, baseUrl, now });

describe('a transaction token', () => {
  it('is a JWT that any library can read', async () => {
    const token = tokensOf([secret]).mint(claims, inAnHour());
    const { payload, protectedHeader } = await jwtVerify(token, secret, {
      issuer: baseUrl,
      audience: baseUrl,
    });
    expect(protectedHeader).toMatchObject({ alg: 'HS256', typ: 'accord-tx+jwt' });
    expect(payload).toMatchObject({ sub: claims.id, use: 'tx', ep: 0, jti: expect.any(String) });
  });

  it('is valid in every process with the same secret', async () => {
    const maker = tokensOf([secret]);
    const token = maker.mint(claims, inAnHour());
    const other = tokensOf([secret]);
    for (const tokens of [maker, other, other]) expect(await tokens.verify(token)).toEqual(claims);
  });

  it('after its expiry still opens the receipt, unless it is a receipt token', async () => {
    let now = Date.now();
    const maker = tokensOf([secret], () => now);
    const reader = tokensOf([secret], () => now);
    const token = maker.mint(claims, new Date(now + 60_000));
    const ofReceipt = maker.mint({ ...claims, use: 'receipt' }, new Date(now + 60_000));
    expect(await reader.verify(token)).toEqual(claims);
    now += 61_000;
    for (const tokens of [maker, reader, tokensOf([secret], () => now)]) {
      expect(await tokens.verify(token)).toEqual({ ...claims, use: 'receipt', isExpired: true });
      expect(await tokens.verify(ofReceipt)).toBeUndefined();
    }
  });

  it('stays valid after a rotation of its secret while the former secret is kept', async () => {
    const token = tokensOf([secret]).mint(claims, inAnHour());
    const next = randomBytes(32);
    expect(await tokensOf([next, secret]).verify(token)).toEqual(claims);
    expect(await tokensOf([next]).verify(token)).toBeUndefined();
  });

  it('is refused when altered, foreign, unsigned or of another kind', async () => {
    const tokens = tokensOf([secret]);
    const token = tokens.mint(claims, inAnHour());
    const [head, body, signature] = token.split('.') as [string, string, string];
    const { kid = '' } = decodeProtectedHeader(token) as { kid?: string };
    const jwt = () =>
      new SignJWT({ use: 'tx', ep: 0 }).setSubject(claims.id).setExpirationTime('1h').setAudience(baseUrl);
    const header = { alg: 'HS256', typ: 'accord-tx+jwt', kid };
    const refused = [
      `${head}.${body}.${signature.slice(0, -2)}AA`,
      `${head}.${body}.`,
      createTransactionTokens({ secrets: [secret], baseUrl: 'http://elsewhere' }).mint(claims, inAnHour()),
      new UnsecuredJWT({ use: 'tx', ep: 0 }).setSubject(claims.id).setExpirationTime('1h').encode(),
      await jwt()
        .setIssuer(baseUrl)
        .setProtectedHeader({ ...header, typ: 'JWT' })
        .sign(secret),
      await jwt()
        .setIssuer(baseUrl)
        .setProtectedHeader({ ...header, alg: 'HS512' })
        .sign(secret),
      await jwt().setIssuer('http://elsewhere').setProtectedHeader(header).sign(secret),
      'garbage',
      '',
    ];
    for (const each of refused) expect(await tokens.verify(each)).toBeUndefined();
    expect(await tokens.verify(token)).toEqual(claims);
  });
});

it('a link to the result of a rollback works until 30 days after the end, however often it is opened; a link to answer works for a day', async () => {
  const dayMs = 24 * 3_600_000;
  const now = Date.now();
  const validAfter = async (days: number, { use, ended = 0 }: { use: 'tx' | 'receipt'; ended?: number }) => {
    const changedAt = new Date(now - ended * dayMs);
    const transaction = { id: claims.id, state: 'ROLLBACK', tokenEpoch: 0, leader: null, changedAt };
    const read = { transaction, now: new Date(now) } as unknown as ReadTransaction;
    const tokens = tokensOf([secret], () => now);
    const { token = '' } = mintLinks({ tokens, instance: { baseUrl } }, read, undefined, use);
    const verified = await tokensOf([secret], () => now + days * dayMs).verify(token);
    return verified !== undefined && !verified.isExpired;
  };
  expect(await validAfter(29.9, { use: 'receipt' })).toBe(true);
  expect(await validAfter(30.1, { use: 'receipt' })).toBe(false);
  expect(await validAfter(0.4, { use: 'receipt', ended: 29.5 })).toBe(true);
  expect(await validAfter(0.6, { use: 'receipt', ended: 29.5 })).toBe(false);
  expect(await validAfter(1.1, { use: 'tx' })).toBe(false);
});

it('signs receipts so that any library can check them', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const sign = createReceiptSigner({ ...(privateKey.export({ format: 'jwk' }) as JWK), kid: 'k1' });
  const body = JSON.stringify({ subject: 'Zoë', consents: [] });
  const publicKey = await importJWK(createPublicKey(privateKey).export({ format: 'jwk' }) as JWK, 'ES256');
  // Signatures are random, and one in 128 has an integer that is shorter.
  for (let count = 0; count < 500; count += 1)
    await compactVerify(sign(body), publicKey, { algorithms: ['ES256'] });
  const { payload, protectedHeader } = await compactVerify(sign(body), publicKey, { algorithms: ['ES256'] });
  expect(new TextDecoder().decode(payload)).toBe(body);
  expect(protectedHeader).toMatchObject({ kid: 'k1', typ: 'accord-consent-receipt+jws' });
});
