import nock from 'nock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fetchIssuerKeys } from '../../services/auth/tokens/issuer-keys.ts';

/**
 * An issuer on the internet, by https and with a name, as no test can start one: it answers whatever the test
 * wants.
 */
const issuer = 'https://login.example.org/realms/clinic';
const origin = 'https://login.example.org';
const keys = { keys: [{ kty: 'EC', crv: 'P-256', kid: 'a' }] };
const metadata = { issuer, jwks_uri: `${origin}/keys` };

const discovery = () => nock(origin).get('/realms/clinic/.well-known/openid-configuration');
const jwks = () => nock(origin).get('/keys');

beforeAll(() => nock.disableNetConnect());
afterEach(() => nock.cleanAll());
afterAll(() => {
  nock.restore();
  nock.enableNetConnect();
});

describe('the keys of an outside issuer', () => {
  it('are found where its discovery document says', async () => {
    discovery().reply(200, metadata);
    jwks().reply(200, keys);
    expect(await fetchIssuerKeys(issuer)).toEqual(keys);
  });

  it('are found although it writes its name with a slash at the end', async () => {
    discovery().reply(200, { ...metadata, issuer: `${issuer}/` });
    jwks().reply(200, keys);
    expect(await fetchIssuerKeys(issuer)).toEqual(keys);
  });

  it.each<[string, number, nock.Body]>([
    ['about another issuer', 200, { ...metadata, issuer: 'https://login.example.org/realms/other' }],
    ['without an issuer', 200, { jwks_uri: metadata.jwks_uri }],
    ['without an address for keys', 200, { issuer }],
    ['with an address for keys that is no text', 200, { issuer, jwks_uri: { $ref: '/keys' } as never }],
    ['that is a page', 200, '<!doctype html><title>Sign in</title>'],
    ['that is not there', 404, ''],
    ['behind a fault', 503, metadata],
    ['of more than a mebibyte', 200, JSON.stringify({ ...metadata, filler: 'x'.repeat(1024 * 1024) })],
  ])('are not taken from a discovery document %s', async (_name, status, body) => {
    discovery().reply(status, body);
    jwks().reply(200, keys);
    await expect(fetchIssuerKeys(issuer)).rejects.toThrow();
  });

  it.each<[string, number, nock.Body]>([
    ['that is a list', 200, [] as never],
    ['whose keys are no list', 200, { keys: {} }],
    ['that is a page', 200, '<!doctype html>'],
    ['behind a fault', 500, keys],
    ['of more than a mebibyte', 200, JSON.stringify({ keys: ['x'.repeat(1024 * 1024)] })],
  ])('are not taken from a document %s', async (_name, status, body) => {
    discovery().reply(200, metadata);
    jwks().reply(status, body);
    await expect(fetchIssuerKeys(issuer)).rejects.toThrow();
  });

  it('are not looked for where a redirect leads', async () => {
    const elsewhere = nock('https://evil.example').get('/keys').reply(200, keys);
    discovery().reply(200, metadata);
    jwks().reply(302, '', { Location: 'https://evil.example/keys' });
    await expect(fetchIssuerKeys(issuer)).rejects.toThrow();
    expect(elsewhere.isDone()).toBe(false);
  });
});
