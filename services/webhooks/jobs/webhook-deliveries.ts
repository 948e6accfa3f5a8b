import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { listedBackoff } from '#lib/deliveries/backoff.ts';
import { createDeliveryEngine, type DeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import type { AttemptResult, DeliveryKind, DueRow, Settlement } from '#lib/deliveries/delivery-kind.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import type { OutboundClient } from '#lib/outbound/outbound-client.ts';
import { OutboundFailed, OutboundRefused } from '#lib/outbound/targets.ts';
import type { AcknowledgementLinks } from '../domain/acknowledgement.ts';
import { acknowledgedActions, canBeAcknowledged } from '../domain/actions.ts';
import { type CarriedEvent, writeMessage } from '../domain/message.ts';
import { markDelivered, markFailed, recordFailure } from '../queries/attempts.ts';
import { changeMessages, type MessageChange } from '../queries/notices.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Nine attempts in about a day (docs/webhooks.md, "When a delivery fails"). */
export const webhookBackoff = listedBackoff({
  waitsMs: [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 3 * hour, 6 * hour, 12 * hour],
  jitter: 0.1,
});
/**
 * Wait of a failing endpoint before its next delivery, by its consecutive failures: an endpoint that is down
 * is probed with one delivery, however many wait. The first failure delays no other delivery, because an
 * endpoint may refuse a single event.
 */
const probeWaitsMs = [0, 5 * second, 30 * second, 2 * minute, 10 * minute];
const probeBackoff = (failures: number, random: number): number =>
  (probeWaitsMs[Math.min(failures, probeWaitsMs.length) - 1] ?? 0) * (1 + 0.1 * random);
/** A webhook that has failed for this long is paused at its next failure. Shorter than all waits together. */
const pauseAfterHours = 22;
/** For one attempt, from name resolution to the end of the response. */
const attemptMs = 10_000;
/** Only the status of a response counts; a longer body is a failure. */
const maxResponseBytes = 64 * 1024;

/** A due delivery with its webhook's URL and secrets. */
export interface WebhookRow extends DueRow {
  webhook: string;
  /** It has one attempt, which does not change the webhook's state. */
  isTest: boolean;
  action: string;
  /** Whether the receiver is asked to acknowledge it. */
  acknowledges: boolean;
  messageId: string;
  event: CarriedEvent;
  targetUrl: string;
  secret: Buffer;
  /** The secret before the last change, while it still signs; null afterwards. */
  formerSecret: Buffer | null;
  /**
   * Database time when the row was read, in seconds since 1970: receivers reject signatures dated by a wrong
   * clock.
   */
  readAtTime: number;
}

/** Recorded for each attempt. */
export interface WebhookFacts {
  statusCode: number | null;
  /** Absent after a success. */
  error?: string;
  /** The exact reason, for the log only. */
  cause?: OutboundFailed | OutboundRefused;
}

/** Tables and conditions for the delivery engine (docs/adr/0020-one-delivery-engine.md). */
export const webhookTables = {
  targets: sql`webhooks`,
  targetKey: sql`t.id`,
  targetKeyType: sql`uuid`,
  ready: sql`(t.state = 'ACTIVE' OR EXISTS (
    SELECT FROM deliveries AS x WHERE x.webhook = t.id AND x.action = 'webhook.test' AND x.status = 'PENDING'))`,
  generation: sql`t.target_url`,
  rows: sql`deliveries`,
  rowKey: sql`d.id`,
  rowKeyType: sql`uuid`,
  rowTarget: sql`d.webhook`,
  due: sql`d.status = 'PENDING' AND d.not_before <= accord_now()
    AND (t.state = 'ACTIVE' OR d.action = 'webhook.test')`,
  columns: sql`
    d.id, d.webhook, d.action = 'webhook.test' AS "isTest", d.action, d.attempts,
    d.action = ANY(${acknowledgedActions}::text[]) AND EXISTS (
      SELECT FROM notice_messages AS m JOIN notices AS n ON n.webhook = m.webhook AND n.transaction = m.transaction
       WHERE m.message = d.message_id AND n.due IS NOT NULL) AS acknowledges,
    d.message_id AS "messageId", d.event, t.target_url AS "targetUrl", t.secret,
    CASE WHEN t.former_until > accord_now() THEN t.former_secret END AS "formerSecret",
    extract(epoch FROM now())::float8 AS "readAtTime"`,
};

interface Dependencies {
  db: Database;
  outbound: OutboundClient;
  secrets: SecretBox;
  links: AcknowledgementLinks;
  /** BASE_URL */
  source: string;
  wakeRelay(): void;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  tracing?: Tracing | undefined;
}

/** Sends due deliveries: at most 4 at a time to an endpoint, 1 to a failing one, 64 in total. */
export function createDeliveryJob({ metrics, tracing, ...parts }: Dependencies): DeliveryEngine {
  return createDeliveryEngine({
    db: parts.db,
    kind: createWebhookDeliveries(parts),
    limits: { perTarget: 4, total: 64, readAhead: 16, maxUnsettled: 32, slowMs: 2_000, maxAgeMs: 2_000 },
    log: parts.log,
    metrics,
    tracing,
    abortConnections: () => parts.outbound.stop(),
  });
}

/**
 * The kind `webhook`: the target is a webhook, a delivery is one event, signed as Standard Webhooks requires.
 */
function createWebhookDeliveries({
  outbound,
  secrets,
  links,
  source,
  wakeRelay,
  log,
}: Omit<Dependencies, 'db'>): DeliveryKind<WebhookRow, WebhookFacts> {
  let hasEvents = false;
  async function recordNotices(tx: Queries, change: MessageChange): Promise<void> {
    if (await changeMessages(tx, change, source)) hasEvents = true;
  }
  return {
    name: 'webhook',
    traceOf: ({ event, webhook }) => ({
      parent: event.traceparent,
      fields: { service: 'webhooks', webhook },
    }),
    tables: webhookTables,
    backoff: (attempts, random, { isTest }) => (isTest ? undefined : webhookBackoff(attempts, random)),
    targetBackoff: probeBackoff,
    async attempt(row, { ageMs }) {
      const { headers, body } = writeMessage(eventOf(row, links), {
        id: row.messageId,
        sentAt: Math.floor(row.readAtTime + ageMs / 1000),
        secrets: [secrets.open(row.webhook, row.secret), ...openFormer(secrets, row)],
      });
      try {
        const response = await outbound.request({
          method: 'POST',
          url: row.targetUrl,
          headers,
          body,
          timeoutMs: attemptMs,
          maxBytes: maxResponseBytes,
        });
        const result = readStatus(response.status);
        return row.isTest && result.kind === 'gone' ? { kind: 'retry', facts: result.facts } : result;
      } catch (error) {
        // The messages of these two classes hold no content; those of other errors may.
        if (error instanceof OutboundRefused)
          return { kind: 'retry', facts: { statusCode: null, error: error.message, cause: error } };
        if (!(error instanceof OutboundFailed)) throw error;
        return { kind: 'retry', facts: { statusCode: null, error: publicReason(error), cause: error } };
      }
    },
    describeError: () => ({ statusCode: null, error: 'The request could not be sent.' }),
    async settle(tx, settlements) {
      const delivered = settlements.filter(({ ending }) => ending === 'done');
      if (delivered.length > 0) await markDelivered(tx, delivered);
      logRecovered(log, delivered);
      const failed = settlements.filter(({ ending }) => ending === 'expired' || ending === 'refused');
      await recordNotices(tx, { messages: messagesWithNotice(delivered), state: 'DELIVERED' });
      await recordNotices(tx, { messages: messagesWithNotice(failed), state: 'FAILED' });
      for (const settlement of settlements) {
        if (settlement.ending === 'done') continue;
        await markFailed(tx, settlement);
        // What the attempt throws is a failure on our side: the engine logs it afterwards, and it pauses no
        // webhook.
        if (settlement.hasThrown) continue;
        logFailure(log, settlement);
        if (!settlement.row.isTest && (await recordFailure(tx, settlement, { pauseAfterHours })))
          log.warn('webhook paused; it stays paused until it is resumed', { id: settlement.row.webhook });
      }
    },
    afterSettle() {
      if (hasEvents) wakeRelay();
      hasEvents = false;
    },
  };
}

/** The event as it is sent: with the URL for its acknowledgement, if one is expected. */
function eventOf({ event, acknowledges, webhook, messageId }: WebhookRow, links: AcknowledgementLinks) {
  if (!acknowledges) return event;
  return { ...event, data: { ...event.data, acknowledge: links.urlOf(webhook, messageId) } };
}

/** The messages among deliveries that may have a notice. */
function messagesWithNotice(settlements: readonly Settlement<WebhookRow, WebhookFacts>[]): string[] {
  return settlements.flatMap(({ row }) => (canBeAcknowledged(row.action) ? row.messageId : []));
}

/** Logs the first of an endpoint's consecutive failures, and each delivery that is given up. */
function logFailure(log: Logger, { row, ending, facts }: Settlement<WebhookRow, WebhookFacts>): void {
  if (ending === 'retry' && row.targetFailures > 0) return;
  log.warn(`webhook delivery failed; ${ending === 'retry' ? 'retried' : 'not retried'}`, {
    id: row.webhook,
    count: row.attempts + 1,
    ...(facts.statusCode !== null && { status: facts.statusCode }),
    ...(facts.cause && { code: facts.cause.reason, error: facts.cause }),
  });
}

/** Logs that endpoints accept deliveries after repeated failures. */
function logRecovered(log: Logger, delivered: readonly Settlement<WebhookRow, WebhookFacts>[]): void {
  const recovered = delivered.filter(({ row }) => row.targetFailures > 1);
  for (const id of new Set(recovered.map(({ row }) => row.webhook)))
    log.warn('webhook endpoint accepts deliveries again', { id });
}

/** Any 2xx accepts the delivery; 410 means that the endpoint no longer exists (Standard Webhooks). */
function readStatus(statusCode: number): AttemptResult<WebhookFacts> {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'done', facts: { statusCode } };
  if (statusCode === 410)
    return { kind: 'gone', facts: { statusCode, error: 'The endpoint responded with 410 Gone.' } };
  return { kind: 'retry', facts: { statusCode, error: `The endpoint responded with ${statusCode}.` } };
}

/** Certificate errors: only a server that is meant to speak TLS presents a certificate. */
const certificateFaults = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/**
 * The reason that clients see. It does not distinguish closed ports, filtered ports and other protocols, so
 * that a webhook cannot be used as a port scanner. The log has the class of the reason.
 */
function publicReason({ reason, code, message }: OutboundFailed): string {
  const isServerFault = reason === 'dns' || (reason === 'tls' && certificateFaults.test(code ?? ''));
  return isServerFault ? message : 'The endpoint did not respond.';
}

/** If the former secret cannot be opened, the current one signs alone. */
function openFormer(secrets: SecretBox, { webhook, formerSecret }: WebhookRow): string[] {
  try {
    return formerSecret ? [secrets.open(webhook, formerSecret)] : [];
  } catch {
    return [];
  }
}
