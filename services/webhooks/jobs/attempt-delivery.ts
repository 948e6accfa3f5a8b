import type { Database } from '#lib/db/database.ts';
import { gather } from '#lib/db/gather.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/delivery-metrics.ts';
import type { OutboundClient } from '#lib/outbound/outbound-client.ts';
import { OutboundFailed, OutboundRefused } from '#lib/outbound/outbound-errors.ts';
import { pauseAfterHours, waitAfter } from '../domain/back-off.ts';
import { writeMessage } from '../domain/message.ts';
import { judgeAnswer, type Outcome } from '../domain/outcome.ts';
import type { SecretBox } from '../domain/secret.ts';
import { type Claim, type Delivered, markDelivered, markFailed, releaseClaims } from '../queries/attempts.ts';
import { lockWebhook, noteFailure } from '../queries/webhooks.ts';

/** For everything, from the name to the end of the answer. */
export const attemptMs = 10_000;
/** Nothing in an answer counts but its status. */
const maxAnswerBytes = 64 * 1024;

export interface AttemptParts {
  db: Database;
  outbound: OutboundClient;
  secrets: SecretBox;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
}

/** Makes one call. @returns undefined if it was broken off before there was an outcome. */
export async function callEndpoint(
  { outbound, secrets, log }: AttemptParts,
  claim: Claim,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const former = openFormer(secrets, claim);
  try {
    const { headers, body } = writeMessage(claim.event, {
      id: claim.messageId,
      sentAt: claim.sentAt,
      secrets: [secrets.open(claim.webhook, claim.secret), ...former],
    });
    const answer = await outbound.request({
      ...{ method: 'POST', url: claim.targetUrl, headers, body },
      ...{ timeoutMs: attemptMs, maxBytes: maxAnswerBytes },
    });
    return judgeAnswer(answer.status);
  } catch (error) {
    if (signal.aborted) return undefined;
    // These messages hold nothing of what was sent or received; other errors may.
    if (error instanceof OutboundRefused) return { kind: 'failed', statusCode: null, error: error.message };
    if (error instanceof OutboundFailed) {
      log.warn('a webhook was not delivered', { id: claim.webhook, error });
      return { kind: 'failed', statusCode: null, error: publicReason(error) };
    }
    log.error('a webhook could not be called', { id: claim.webhook, error });
    return { kind: 'failed', statusCode: null, error: 'The call could not be made.' };
  }
}

/** TLS certificates that are refused: only a server that speaks TLS on purpose presents one. */
const certificateFaults = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/**
 * The reason that the webhook's owner reads. It does not tell a closed port from a filtered one, nor from one with another protocol: else a
 * webhook would be a port scanner of the networks that may be called. The exact reason is in the log.
 */
function publicReason({ reason, code, message }: OutboundFailed): string {
  const isOfServer = reason === 'dns' || (reason === 'tls' && certificateFaults.test(code ?? ''));
  return isOfServer ? message : 'The endpoint did not answer.';
}

/** Who renews a secret that nobody can open any more is helped at once: the former one then signs nothing. */
function openFormer(secrets: SecretBox, { webhook, formerSecret }: Claim): string[] {
  try {
    return formerSecret ? [secrets.open(webhook, formerSecret)] : [];
  } catch {
    return [];
  }
}

/** Outcomes that come one soon after the other are one COMMIT: so long nobody waits for one. */
const gatherMs = 20;

/** Writes down what became of an attempt, and resolves when that has been done. */
export type RecordOutcome = (claim: Claim, attempt: { outcome: Outcome; ms: number }) => Promise<void>;

/** An endpoint that is gone, or has taken nothing for a day, is paused. */
export function createOutcomeRecorder(parts: AttemptParts): RecordOutcome {
  const { db, metrics } = parts;
  const deliver = gather<Delivered>(gatherMs, (all) => markDelivered(db, all));
  return async (claim, { outcome, ms }) => {
    if (outcome.kind !== 'delivered') return recordFailure(parts, claim, { outcome, ms });
    const { id, webhook } = claim;
    await deliver({ id, webhook, statusCode: outcome.statusCode, ms });
    metrics?.attempted({ kind: 'webhook', outcome: 'delivered', ms });
  };
}

async function recordFailure(
  { db, log, metrics }: AttemptParts,
  claim: Claim,
  { outcome, ms }: { outcome: Exclude<Outcome, { kind: 'delivered' }>; ms: number },
): Promise<void> {
  const { statusCode, error } = outcome;
  const waitMs = waitAfter(claim.attempts + 1, Math.random());
  const noted = await db.withTransaction(async (tx) => {
    // First the webhook, then its deliveries, as all who change both: else two could wait for each other.
    const webhook = await lockWebhook(tx, claim.webhook);
    if (!webhook) return undefined;
    // It has another address by now, which has done nothing wrong, and is to be tried.
    if (webhook.targetUrl !== claim.targetUrl) {
      await releaseClaims(tx, [claim]);
      return undefined;
    }
    if (!(await markFailed(tx, claim, { statusCode, ms, error, waitMs }))) return undefined;
    const gone = outcome.kind === 'gone';
    return noteFailure(tx, { id: claim.webhook, error, statusCode, gone, pauseAfterHours });
  });
  metrics?.attempted({ kind: 'webhook', outcome: waitMs === undefined ? 'given-up' : 'failed', ms });
  if (noted?.paused) log.warn('a webhook was paused; somebody has to resume it', { id: claim.webhook });
}
