import { generateKeyPairSync } from 'node:crypto';
import { CompactSign, type JWK } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import {
  type PeerRequest,
  type PeerTokenFault,
  verifyPeerToken,
} from '../../services/peers/domain/peer-token.ts';
import {
  claims,
  digest,
  forge,
  forgeries,
  honest,
  hospital,
  lab,
  now,
  pins,
  request,
} from '../support/peers/peer-forgeries.ts';

const incoming = (asked: PeerRequest) => ({ ...asked, body: async () => asked.body });
/** The keys of `pins`, by issuer and thumbprint. */
const findPinned = async (issuer: string, kid: string) => {
  const pin = pins.get(kid);
  return pin?.peer === issuer ? pin.key : undefined;
};
const verify = (token: string, asked: PeerRequest = request, at = now) =>
  verifyPeerToken(token, incoming(asked), { audience: lab, pinned: findPinned, now: at });

describe('a request of a peer', () => {
  it('is accepted if its key signed every part of it', async () => {
    expect(await verify(await honest())).toMatchObject({ valid: true, peer: hospital });
  });

  it('is accepted by a clock that is up to 30 s behind, or up to 90 s ahead', async () => {
    for (const ms of [-29_000, 29_000, 89_000])
      expect((await verify(await honest(), request, new Date(now.getTime() + ms))).valid).toBe(true);
  });

  it('may name its address with or without the query', async () => {
    const asked = { method: 'GET', url: `${lab}/federation/models?since=x`, body: new Uint8Array() };
    for (const htu of [asked.url, `${lab}/federation/models`]) {
      const token = await forge(claims({ htm: 'GET', htu, bd: digest(asked.body) }));
      expect((await verify(token, asked)).valid).toBe(true);
    }
  });

  it('may be signed with EdDSA if such a key is pinned', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const key = publicKey.export({ format: 'jwk' }) as JWK;
    const token = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims())))
      .setProtectedHeader({ alg: 'EdDSA', typ: 'accord-peer+jwt', kid: 'ed' })
      .sign(privateKey);
    const pinned = async () => key;
    expect((await verifyPeerToken(token, incoming(request), { audience: lab, pinned, now })).valid).toBe(
      true,
    );
    const confused = await forge(claims(), { kid: 'ed' });
    expect(await verifyPeerToken(confused, incoming(request), { audience: lab, pinned, now })).toEqual({
      valid: false,
      fault: 'algorithm',
    });
  });

  it('with a key that is not pinned is rejected before its signature is checked', async () => {
    const pinned = vi.fn(async () => undefined);
    const token = `${(await honest()).slice(0, -10)}##########`;
    expect(await verifyPeerToken(token, incoming(request), { audience: lab, pinned, now })).toEqual({
      valid: false,
      fault: 'unknown-key',
      issuer: hospital,
    });
  });
});

describe.each(forgeries)('a forgery %s is refused', (_where, forged) => {
  it.each(forged)('%s', async (_name, fault, token) => {
    expect(await verify(await token())).toMatchObject({ valid: false, fault });
  });
});

describe('a token for one request', () => {
  it.each<[string, Partial<PeerRequest>, PeerTokenFault]>([
    ['method', { method: 'DELETE' }, 'method'],
    ['address', { url: `${lab}/federation/submissions/8Yz` }, 'address'],
    ['body', { body: new TextEncoder().encode('{"leader":"y"}') }, 'body'],
  ])('vouches for no other %s', async (_name, changes, fault) => {
    expect(await verify(await honest(), { ...request, ...changes })).toMatchObject({ valid: false, fault });
  });
});
