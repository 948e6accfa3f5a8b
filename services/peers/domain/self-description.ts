import { calculateJwkThumbprint, importJWK, type JWK, SignJWT } from 'jose';
import { protocolVersion } from './read-description.ts';

/** What an instance says of itself (federation.md, "Trust"). */
export interface SelfDescription {
  /** The instance's id: its base URL. */
  instance: string;
  name: string;
  /** Public keys: signing (`use: sig`) and sealing (`use: enc`), each with its RFC 7638 thumbprint as `kid`. */
  jwks: { keys: JWK[] };
  endpoints: { description: string; pairing: string };
  /** Versions of the federation protocol that the instance speaks. */
  versions: string[];
}

const lifetimeSeconds = 24 * 60 * 60;

/** Composes the self-description from the instance's private keys; older ones stay published. */
export async function describeInstance({
  baseUrl,
  name,
  signingKeys,
  sealingKeys,
}: {
  baseUrl: string;
  name: string;
  signingKeys: readonly JWK[];
  sealingKeys: readonly JWK[];
}): Promise<SelfDescription> {
  const keys = await Promise.all([
    ...signingKeys.map((key) => publicPart(key, 'sig', 'ES256')),
    ...sealingKeys.map((key) => publicPart(key, 'enc', 'ECDH-ES')),
  ]);
  return {
    instance: baseUrl,
    name,
    jwks: { keys },
    endpoints: {
      description: `${baseUrl}/.well-known/accord`,
      pairing: `${baseUrl}/federation/pairing`,
    },
    versions: [protocolVersion],
  };
}

/**
 * Signs a self-description: a JWS of typ `accord-instance+jwt`, good for a day.
 * @param signingKey the oldest of the instance's keys: peers that know it learn the newer ones from it (federation.md, "Trust").
 */
export async function signDescription(
  description: SelfDescription,
  signingKey: JWK,
  now = new Date(),
): Promise<string> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT({ ...description })
    .setProtectedHeader({
      alg: 'ES256',
      typ: 'accord-instance+jwt',
      kid: await calculateJwkThumbprint(signingKey),
    })
    .setIssuer(description.instance)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(await importJWK(signingKey, 'ES256'));
}

async function publicPart({ kty, crv, x, y }: JWK, use: 'sig' | 'enc', alg: string): Promise<JWK> {
  const key = { kty, crv, x, y };
  return { ...key, use, alg, kid: await calculateJwkThumbprint(key as JWK) };
}
