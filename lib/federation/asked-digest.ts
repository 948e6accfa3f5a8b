import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/**
 * Digest of what was asked of a peer, as a seal's header has it (federation.md, "Answers"): SHA-256 over the canonical JSON (RFC 8785) of
 * {info, elements}, base64url. Identifiers are the peer's own.
 */
export function askedDigest({ info, elements }: { info: string; elements: readonly string[] }): string {
  const text = canonicalize({ info, elements: [...elements].sort() }) as string;
  return createHash('sha256').update(text).digest('base64url');
}
