import type { JSONWebKeySet } from 'jose';

const timeoutMs = 3_000;
const maxBytes = 1024 * 1024;

/**
 * Reads an issuer's JWKS by OpenID Connect Discovery. The operator chose the issuer, so its addresses are trusted (security.md,
 * "Outbound"); that the document is about this issuer is checked all the same (OpenID Connect Discovery 1.0 §4.3).
 */
export async function fetchIssuerKeys(issuer: string): Promise<JSONWebKeySet> {
  const metadata = await fetchJson(`${issuer}/.well-known/openid-configuration`);
  if (withoutSlash(metadata.issuer) !== withoutSlash(issuer))
    throw new Error(`The discovery document of ${issuer} is about another issuer.`);
  if (typeof metadata.jwks_uri !== 'string')
    throw new Error(`The discovery document of ${issuer} names no keys.`);
  const keys = await fetchJson(metadata.jwks_uri);
  if (!Array.isArray(keys.keys)) throw new Error(`The keys of ${issuer} are no JWKS.`);
  return keys as unknown as JSONWebKeySet;
}

async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    headers: { Accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`${url} answered with more than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
}

function withoutSlash(issuer: unknown): string {
  return String(issuer).replace(/\/+$/, '');
}
