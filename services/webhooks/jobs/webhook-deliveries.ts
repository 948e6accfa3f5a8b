import { sql } from '#lib/db/sql.ts';
import { listedBackoff } from '#lib/deliveries/backoff.ts';
import type { AttemptResult, DeliveryKind, DueRow } from '#lib/deliveries/delivery-kind.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { OutboundClient } from '#lib/outbound/outbound-client.ts';
import { OutboundFailed, OutboundRefused } from '#lib/outbound/outbound-errors.ts';
import { type CarriedEvent, writeMessage } from '../domain/message.ts';
import type { SecretBox } from '../domain/secret.ts';
import { markDelivered, markFailed, noteFailure } from '../queries/attempts.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Nine attempts within a day (docs/webhooks.md, "When a delivery fails"). */
export const webhookBackoff = listedBackoff({
  waitsMs: [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour],
  jitter: 0.1,
});
/** An endpoint that has accepted nothing for this long is paused when it fails again: less than all waits together. */
const pauseAfterHours = 22;
/** For one attempt, from the name look-up to the end of the response. */
const attemptMs = 10_000;
/** Only the status of a response counts; a longer body is a failure. */
const maxResponseBytes = 64 * 1024;

/** A delivery that is due, with what its endpoint needs. */
export interface WebhookRow extends DueRow {
  webhook: string;
  messageId: string;
  event: CarriedEvent;
  targetUrl: string;
  secret: Buffer;
  /** The secret before the last change, while it still signs; null afterwards. */
  formerSecret: Buffer | null;
  /** Seconds since 1970 by the database when the row was read: a receiver refuses signatures that a wrong clock dates. */
  readAtTime: number;
}

/** What is recorded of an attempt. */
export interface WebhookFacts {
  statusCode: number | null;
  /** Absent if the endpoint accepted the delivery. */
  error?: string;
}

/** Where deliveries and their endpoints are (lib/deliveries). */
export const webhookTables = {
  targets: sql`webhooks`,
  targetKey: sql`t.id`,
  targetKeyType: sql`uuid`,
  ready: sql`t.state = 'ACTIVE'`,
  generation: sql`t.target_url`,
  rows: sql`deliveries`,
  rowKey: sql`d.id`,
  rowKeyType: sql`uuid`,
  rowTarget: sql`d.webhook`,
  // Replicas of the previous release lease each delivery.
  due: sql`d.status = 'PENDING' AND d.not_before <= accord_now() AND (d.lease_until IS NULL OR d.lease_until < now())`,
  columns: sql`
    d.id, d.webhook, d.attempts, d.message_id AS "messageId", d.event, t.target_url AS "targetUrl", t.secret,
    CASE WHEN t.former_until > accord_now() THEN t.former_secret END AS "formerSecret",
    extract(epoch FROM now())::float8 AS "readAtTime"`,
};

/** The kind `webhook`: a target is a webhook, a delivery one event for it, signed as Standard Webhooks says. */
export function createWebhookDeliveries(parts: {
  outbound: OutboundClient;
  secrets: SecretBox;
  log: Logger;
}): DeliveryKind<WebhookRow, WebhookFacts> {
  const { outbound, secrets, log } = parts;
  return {
    name: 'webhook',
    tables: webhookTables,
    backoff: webhookBackoff,
    async attempt(row, { ageMs, signal }) {
      const { headers, body } = writeMessage(row.event, {
        id: row.messageId,
        sentAt: Math.floor(row.readAtTime + ageMs / 1000),
        secrets: [secrets.open(row.webhook, row.secret), ...openFormer(secrets, row)],
      });
      const request = { method: 'POST', url: row.targetUrl, headers, body };
      try {
        const limits = { timeoutMs: attemptMs, maxBytes: maxResponseBytes };
        return judge((await outbound.request({ ...request, ...limits })).status);
      } catch (error) {
        // These messages hold nothing that was sent or received; other errors may.
        if (error instanceof OutboundRefused)
          return { kind: 'retry', facts: { statusCode: null, error: error.message } };
        if (!(error instanceof OutboundFailed)) throw error;
        if (!signal.aborted) log.warn('webhook delivery failed; retried', { id: row.webhook, error });
        return { kind: 'retry', facts: { statusCode: null, error: publicReason(error) } };
      }
    },
    describeError: () => ({ statusCode: null, error: 'The call could not be made.' }),
    async settle(tx, settlements) {
      const delivered = settlements.filter(({ ending }) => ending === 'done');
      if (delivered.length > 0) await markDelivered(tx, delivered);
      for (const settlement of settlements) {
        if (settlement.ending === 'done') continue;
        await markFailed(tx, settlement);
        if (await noteFailure(tx, settlement, { pauseAfterHours }))
          log.warn('webhook paused; it stays paused until it is resumed', { id: settlement.row.webhook });
      }
    },
  };
}

/** Any 2xx accepts the delivery; 410 says that the endpoint no longer exists (Standard Webhooks, "Responding"). */
function judge(statusCode: number): AttemptResult<WebhookFacts> {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'done', facts: { statusCode } };
  if (statusCode === 410)
    return {
      kind: 'gone',
      facts: { statusCode, error: 'The endpoint answered 410: it is there no more.' },
    };
  return { kind: 'retry', facts: { statusCode, error: `The endpoint answered ${statusCode}.` } };
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

/** A former secret that cannot be opened does not keep the new one from signing. */
function openFormer(secrets: SecretBox, { webhook, formerSecret }: WebhookRow): string[] {
  try {
    return formerSecret ? [secrets.open(webhook, formerSecret)] : [];
  } catch {
    return [];
  }
}
