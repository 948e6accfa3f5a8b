import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { Decision, OwnerVerdict, RefusalReason } from '#lib/contracts/parts.ts';
import {
  maxSkewSeconds,
  numericDate,
  type PinnedKey,
  readSigned,
  type SignedFault,
  signClaims,
} from './signatures.ts';

/** Content of an acknowledgement (wire: `receipt`): the owner's verdict or the leader's decision. */
export type AcknowledgementContent = OwnerVerdict | { decision: Decision | 'open' };

/** A peer's acknowledgement whose signature and claims were checked. */
export interface Acknowledgement {
  jws: string;
  content: AcknowledgementContent;
}

/** The request that an acknowledgement answers. */
export interface AcknowledgedRequest {
  sid: string;
  /** SHA-256 of the request's body, base64url. */
  digest: string;
}

/** Why an acknowledgement is rejected, in the order of the checks. */
export type AcknowledgementFault = SignedFault | 'issuer' | 'audience' | 'submission' | 'digest' | 'clock';

const type = 'accord-receipt+jwt';
const maxLength = 8_192;
const verdicts = ['committed', 'held', 'rolledback', 'refused', 'withdrawn', 'erased', 'noted'];
const decisions = ['commit', 'rollback', 'open'];

/**
 * Signs the response to a part, a decision, a withdrawal, an erasure or a request for a decision
 * (docs/federation.md, "Answers on their way").
 * @param issuer this instance's base URL.
 */
export function createAcknowledgementSigner(issuer: string, key: PrivateKey) {
  type About = AcknowledgedRequest & { audience: string };
  return (content: AcknowledgementContent, { sid, digest, audience }: About, now = new Date()): string =>
    signClaims({ sid, digest, ...content, iss: issuer, aud: audience, iat: numericDate(now) }, { type, key });
}

export type SignAcknowledgement = ReturnType<typeof createAcknowledgementSigner>;

/**
 * Reads a peer's acknowledgement. It must be signed with a key that is pinned for that peer, name the peer as
 * issuer and this instance as audience, and answer this request.
 * @param from.signing the peer's pinned signing keys only. @param from.since when the request was sent.
 */
export function readAcknowledgement(
  jws: string,
  about: AcknowledgedRequest,
  from: { url: string; audience: string; signing: readonly PinnedKey[]; since: Date; now: Date },
): Acknowledgement | { fault: AcknowledgementFault } {
  const read = readSigned(jws, { type, maxLength, signing: from.signing });
  if ('fault' in read) return read;
  const content = readContent(read.claims);
  if (!content) return { fault: 'claims' };
  const fault = faultOf(read.claims, about, from);
  return fault ? { fault } : { jws, content };
}

/** Either a verdict or a decision: an acknowledgement with both could answer two kinds of request. */
function readContent({ verdict, reason, id, decision, iat }: Record<string, unknown>) {
  if (!Number.isSafeInteger(iat)) return undefined;
  if (decision !== undefined) {
    const isDecision = verdict === undefined && decisions.includes(decision as string);
    return isDecision ? { decision: decision as Decision | 'open' } : undefined;
  }
  if (!verdicts.includes(verdict as string)) return undefined;
  if (verdict === 'refused' && !isMatch(reason, /^[a-z-]{1,64}$/)) return undefined;
  if (id !== undefined && !isMatch(id, /^[\x21-\x7e]{1,64}$/)) return undefined;
  return {
    verdict: verdict as OwnerVerdict['verdict'],
    ...(verdict === 'refused' ? { reason: reason as RefusalReason } : {}),
    ...(id === undefined ? {} : { id: id as string }),
  };
}

function isMatch(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function faultOf(
  { iss, aud, sid, digest, iat }: Record<string, unknown>,
  about: AcknowledgedRequest,
  { url, audience, since, now }: { url: string; audience: string; since: Date; now: Date },
): AcknowledgementFault | undefined {
  if (iss !== url) return 'issuer';
  if (aud !== audience) return 'audience';
  if (sid !== about.sid) return 'submission';
  if (digest !== about.digest) return 'digest';
  const isTooOld = (iat as number) < numericDate(since) - maxSkewSeconds;
  return isTooOld || (iat as number) > now.getTime() / 1000 + maxSkewSeconds ? 'clock' : undefined;
}
