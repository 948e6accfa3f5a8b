import { createHash } from 'node:crypto';
import {
  type CompactVerifyResult,
  compactVerify,
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeProtectedHeader,
  type JSONWebKeySet,
} from 'jose';
import { beforeAll, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { type LiveTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let made: LiveTransaction;
const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
beforeAll(async () => {
  made = await recordAnswers(operator, 'ann \u2028 Zoë', {
    'element/processing/processing.001/1.0': ['accepted'],
    'element/preference/preference.003/1.0': ['مقعد بجانب الممر'],
  });
});

interface Description {
  instance: string;
  jwks: JSONWebKeySet;
  jws: string;
}

const describeInstance = async () =>
  (await (await instance.fetch('/.well-known/accord')).json()) as Description;
const signedReceipt = async () => (await operator.get(`/receipts/${made.id}?format=jose`)).text();
/** Verifies as a stranger would: with what the instance publishes, and no other key. */
const verify = async (jws: string): Promise<CompactVerifyResult> => {
  const { jwks } = await describeInstance();
  return compactVerify(jws, createLocalJWKSet(jwks), { algorithms: ['ES256'] });
};
const textOf = ({ payload }: CompactVerifyResult) => new TextDecoder().decode(payload);

it('a signed receipt can be verified with the published key', async () => {
  const { protectedHeader } = await verify(await signedReceipt());
  expect(protectedHeader).toMatchObject({
    alg: 'ES256',
    typ: 'accord-consent-receipt+jws',
    cty: 'application/json',
  });
  const { jwks } = await describeInstance();
  expect(jwks.keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid)).toContain(protectedHeader.kid);
});

it('the signed payload equals the receipt', async () => {
  const plain = await (await operator.get(`/receipts/${made.id}`)).text();
  expect(textOf(await verify(await signedReceipt()))).toBe(plain);
  expect(JSON.parse(plain)).toMatchObject({ transaction: made.id, subject: 'ann \u2028 Zoë' });
});

it('an auditor reads what was signed, with the digest that the log has, and without the link', async () => {
  const jws = await signedReceipt();
  const { updateUrl, ...signed } = JSON.parse(textOf(await verify(jws))) as { updateUrl: string };
  expect(updateUrl).toContain('?t=');
  const auditor = await signIn(instance, 'auditor');
  const sha256 = createHash('sha256').update(jws).digest('hex');
  const signature = { kid: decodeProtectedHeader(jws).kid, sha256 };
  const path = `/receipts/${made.id}`;
  expect(await (await auditor.get(path)).json()).toEqual({ ...signed, signature });
  expect(await (await operator.get(`${path}?links=false`)).json()).toEqual({ ...signed, signature });
  const log = `/audit/consents?action=receipt.signed&target=transaction/${made.id}`;
  await until(async () => {
    expect(await (await auditor.get(log)).json()).toMatchObject({ values: [{ digest: sha256 }] });
  });
});

it('a receipt is signed once and always the same', async () => {
  expect(await signedReceipt()).toBe(await signedReceipt());
});

it('a changed receipt does not verify', async () => {
  const [header, payload = '', signature] = (await signedReceipt()).split('.');
  const changed = Buffer.from(payload, 'base64url').toString().replace('"accepted"', '"refused"');
  const forged = `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`;
  await expect(verify(forged)).rejects.toThrow('signature verification failed');
});

it('every signature has 64 bytes (RFC 7518)', async () => {
  for (const subject of Array.from({ length: 12 }, (_, index) => `signed-${index}`)) {
    const { id } = await recordAnswers(operator, subject, {
      'element/processing/processing.001/1.0': ['accepted'],
    });
    const jws = await (await operator.get(`/receipts/${id}`, { Accept: 'application/jose' })).text();
    expect(Buffer.from(jws.split('.')[2] ?? '', 'base64url')).toHaveLength(64);
    expect(JSON.parse(textOf(await verify(jws)))).toMatchObject({ subject });
  }
});

it('the self-description is signed and contains no private key', async () => {
  const { jws, ...described } = await describeInstance();
  const signed = await verify(jws);
  expect(decodeProtectedHeader(jws).typ).toBe('accord-instance+jwt');
  expect(JSON.parse(textOf(signed))).toMatchObject(described);
  expect(described.instance).toBe(instance.url);
  for (const key of described.jwks.keys) expect(key).not.toHaveProperty('d');
  const compact = await instance.fetch('/.well-known/accord', { headers: { Accept: 'application/jose' } });
  expect(compact.headers.get('content-type')).toBe('application/jose');
  await verify(await compact.text());
});

it('a program verifies a receipt with the address of the keys alone', async () => {
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', instance.url));
  const { protectedHeader } = await compactVerify(await signedReceipt(), keys);
  expect(protectedHeader.alg).toBe('ES256');
});

it('the set of keys has the public signing keys alone, in the media type that is asked for', async () => {
  const { jwks } = await describeInstance();
  for (const [accept, type] of [
    ['', 'application/jwk-set+json'],
    ['*/*', 'application/jwk-set+json'],
    ['application/json', 'application/json'],
    ['application/problem+json', 'application/json'],
  ] as const) {
    const response = await instance.fetch('/.well-known/jwks.json', { headers: { Accept: accept } });
    expect(response.headers.get('content-type')?.split(';')[0], accept).toBe(type);
    expect(response.headers.get('cache-control')).toBe('public, max-age=60');
    expect(await response.json()).toEqual({ keys: jwks.keys.filter(({ use }) => use === 'sig') });
  }
});
