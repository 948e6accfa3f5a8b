import type { JWK } from 'jose';
import type { Decision, RefusalReason, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import { createCompactJws, createEs256 } from '#lib/jose/jws.ts';
import { mostSkewSeconds } from './peer-token.ts';
import { readSigned, type SignedFault } from './read-signed.ts';

/** What a receipt says: what became of a part, or what was decided over it. */
export type ReceiptContent = SubmissionVerdict | { decision: Decision | 'open' };

/** What a receipt is about. */
export interface ReceiptMatter {
  sid: string;
  /** SHA-256 of the request's body, base64url. */
  digest: string;
}

/** Why a receipt does not count, in the order in which it is looked at. */
export type ReceiptFault = SignedFault | 'issuer' | 'audience' | 'submission' | 'digest' | 'clock';

export type ReadReceipt = { valid: true; content: ReceiptContent } | { valid: false; fault: ReceiptFault };

const type = 'accord-receipt+jwt';
const longest = 8_192;
const verdicts = ['committed', 'held', 'rolledback', 'refused'];
const decisions = ['commit', 'rollback', 'open'];

/** Signs what became of a submission, or what was decided: the only answer that counts (federation.md, "Trust"). */
export function createReceiptSigner({ issuer, key }: { issuer: string; key: JWK & { kid: string } }) {
  const write = createCompactJws({ alg: 'ES256', typ: type, kid: key.kid }, createEs256(key));
  return (
    content: ReceiptContent,
    { sid, digest, audience }: ReceiptMatter & { audience: string },
    now = new Date(),
  ): string =>
    write(
      JSON.stringify({
        ...{ sid, digest, ...content, iss: issuer, aud: audience },
        iat: Math.floor(now.getTime() / 1000),
      }),
    );
}

/**
 * Reads a peer's receipt: by a key that is pinned for exactly that peer, in its name, for us, about this request, and made for it.
 * @param from.signing the peer's pinned signing keys, and nobody else's. @param from.since when the request was sent.
 */
export async function readReceipt(
  jws: string,
  about: ReceiptMatter,
  from: {
    url: string;
    audience: string;
    signing: readonly { kid: string; jwk: JWK }[];
    since: Date;
    now: Date;
  },
): Promise<ReadReceipt> {
  const read = readSigned(jws, { type, longest, signing: from.signing });
  if ('fault' in read) return refuse(read.fault);
  const content = readContent(read.claims);
  if (!content) return refuse('claims');
  const fault = faultOf(read.claims, about, from);
  return fault ? refuse(fault) : { valid: true, content };
}

function refuse(fault: ReceiptFault): ReadReceipt {
  return { valid: false, fault };
}

/** A verdict or a decision, never both: what one request asked for is no answer to another. */
function readContent({ verdict, reason, id, decision, iat }: Record<string, unknown>) {
  if (!Number.isSafeInteger(iat)) return undefined;
  if (decision !== undefined) {
    const isDecision = verdict === undefined && isAmong(decisions, decision);
    return isDecision ? { decision: decision as Decision | 'open' } : undefined;
  }
  if (!isAmong(verdicts, verdict)) return undefined;
  if (verdict === 'refused' && !(typeof reason === 'string' && /^[a-z-]{1,64}$/.test(reason)))
    return undefined;
  if (id !== undefined && !(typeof id === 'string' && /^[\x21-\x7e]{1,64}$/.test(id))) return undefined;
  return {
    verdict: verdict as SubmissionVerdict['verdict'],
    ...(verdict === 'refused' ? { reason: reason as RefusalReason } : {}),
    ...(id === undefined ? {} : { id }),
  };
}

function isAmong(known: readonly string[], value: unknown): boolean {
  return typeof value === 'string' && known.includes(value);
}

function faultOf(
  { iss, aud, sid, digest, iat }: Record<string, unknown>,
  about: ReceiptMatter,
  { url, audience, since, now }: { url: string; audience: string; since: Date; now: Date },
): ReceiptFault | undefined {
  if (iss !== url) return 'issuer';
  if (aud !== audience) return 'audience';
  if (sid !== about.sid) return 'submission';
  if (digest !== about.digest) return 'digest';
  const at = iat as number;
  const tooOld = at < Math.floor(since.getTime() / 1000) - mostSkewSeconds;
  return tooOld || at > now.getTime() / 1000 + mostSkewSeconds ? 'clock' : undefined;
}
