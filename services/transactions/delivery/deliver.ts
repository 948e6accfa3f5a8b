import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { createDeliveryEngine, type DeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import type { AttemptResult, DeliveryKind, DueRow } from '#lib/deliveries/delivery-kind.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { MailTransport, SendResult } from '#lib/mail/mail-transport.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { releaseWaiting } from '../messages/counts-store.ts';
import { hourlyRoom, type MessageLimits } from '../messages/limits.ts';
import { type Message, type MessageSecrets, messageBackoff, outageBackoff } from '../messages/message.ts';
import { deleteEmptyQueues, type MessageFacts, messageTables, recordAttempts } from '../messages/store.ts';
import type { ShortCodes } from '../transaction/short-link.ts';
import { composeChoicesMail, composeMessage } from './compose-message.ts';
import type { SmsTransport } from './transport.ts';

/** A due message. */
type MessageRow = DueRow &
  Pick<Message, 'kind' | 'channel'> & {
    /** Null for links to choices. */
    transaction: string | null;
    sealed: Buffer;
    /** Number of the code that it carries; null without one. */
    code: number | null;
    /** Number of the code that can confirm the answers now; null without one. */
    validCode: number | null;
  };

/** The transports, null if not configured. */
export interface Transports {
  mail: MailTransport | null;
  /** `from`: the sender of messages whose context names none. */
  sms: { transport: SmsTransport; from: string | null } | null;
}

interface Dependencies {
  db: Database;
  forms: FormsOperations;
  shortCodes: ShortCodes;
  instance: Instance;
  box: SecretBox;
  transports: Transports;
  log: Logger;
  metrics?: Pick<Metrics, 'deliveries' | 'messages'> | undefined;
  tracing?: Tracing | undefined;
  /** Wakes the outbox relay. */
  wake: () => void;
}

/** Sends due messages: at most 4 at a time from a queue, 1 after a failure, 32 in total. */
export function createMessageJob({ tracing, ...dependencies }: Dependencies): DeliveryEngine {
  return createDeliveryEngine({
    db: dependencies.db,
    kind: createMessageDeliveries(dependencies),
    limits: { perTarget: 4, total: 32, readAhead: 8, maxUnsettled: 8, slowMs: 5_000, maxAgeMs: 5_000 },
    log: dependencies.log,
    metrics: dependencies.metrics?.deliveries,
    tracing,
  });
}

const emptyBatch = 500;

/** Deletes queues of mail domains without pending messages, so that their number does not grow forever. */
export function createQueueSweeper({
  db,
  log,
  everyMs,
}: Pick<Dependencies, 'db' | 'log'> & { everyMs: number }): RepeatedWork {
  const deleteBatch = () => db.withTransaction((tx) => deleteEmptyQueues(tx, emptyBatch));
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      while ((await deleteBatch()) === emptyBatch && !isStopped());
    },
    onError: (error) =>
      log.warn('failed to delete empty queues of messages; retried at the next interval', { error }),
  });
}

const releasedBatch = 500;

/** Lets messages be sent that wait because of an hourly limit, as soon as the limits allow it. */
export function createWaitingReleaser({
  db,
  log,
  limits,
  everyMs,
}: Pick<Dependencies, 'db' | 'log'> & { limits: MessageLimits; everyMs: number }): RepeatedWork {
  const room = hourlyRoom({ kind: 'notification', channel: 'mail' }, limits);
  const release = () =>
    db.withTransaction((tx) => releaseWaiting(tx, { room, batch: releasedBatch }), { indexPlans: true });
  return createRepeatedWork({
    everyMs,
    async work(isStopped) {
      while ((await release()) === releasedBatch && !isStopped());
    },
    onError: (error) =>
      log.warn('failed to release waiting messages; retried at the next interval', { error }),
  });
}

function createMessageDeliveries(
  dependencies: Omit<Dependencies, 'tracing'>,
): DeliveryKind<MessageRow, MessageFacts> {
  const { log, instance, metrics } = dependencies;
  return {
    name: 'message',
    labelOf: ({ channel }) => channel,
    tables: messageTables,
    backoff: messageBackoff,
    targetBackoff: outageBackoff,
    attempt: (row, { signal }) => attempt(dependencies, row, signal),
    describeError: () => ({ error: 'internal' }),
    async settle(tx, settlements) {
      await recordAttempts(tx, settlements, instance.baseUrl);
      for (const { row, ending, facts, hasThrown } of settlements) {
        if (ending === 'done' || ending === 'obsolete') continue;
        if (ending !== 'retry') metrics?.messages.countFailed({ kind: row.channel, error: facts.error });
        if (hasThrown) continue;
        log.warn(`message not sent; ${ending === 'retry' ? 'retried' : 'not retried'}`, {
          id: row.id,
          operation: `${row.channel} ${row.kind}`,
          count: row.attempts + 1,
          code: facts.error ?? 'internal',
        });
      }
    },
    afterSettle: dependencies.wake,
  };
}

async function attempt(
  dependencies: Omit<Dependencies, 'tracing'>,
  row: MessageRow,
  signal: AbortSignal,
): Promise<AttemptResult<MessageFacts>> {
  const { box, transports, instance } = dependencies;
  const { id, kind, channel, transaction } = row;
  if (row.code !== null && row.code !== row.validCode) return { kind: 'obsolete', facts: { error: null } };
  // After a failure the server is checked first, because composing a mail may require rendering a PDF.
  const fault = channel === 'mail' && row.targetFailures > 0 && (await transports.mail?.check());
  if (fault) return readResult(fault);
  const { to, from, code, language: asked } = JSON.parse(box.open(id, row.sealed)) as MessageSecrets;
  const composed =
    transaction === null
      ? await composeChoicesMail(dependencies, { id, to, language: asked })
      : await composeMessage(dependencies, { id, kind, channel, transaction, ...(code && { code }) });
  if (!composed) return { kind: 'obsolete', facts: { error: null } };
  const { subject, text, html, language, attachments } = composed;
  const [mail, sms] = [transports.mail, transports.sms];
  if (channel === 'sms') {
    if (!sms) return { kind: 'retry', own: true, facts: { error: 'not-configured' } };
    return readResult(await sms.transport.send({ id, from: from ?? sms.from, to, text }, signal));
  }
  if (!mail || subject === null || html === null)
    return { kind: 'retry', own: true, facts: { error: 'not-configured' } };
  const content = { id, from: from ?? instance.mailFrom, to, subject, text, html, language, attachments };
  return readResult(await mail.send(content, signal));
}

function readResult(result: SendResult): AttemptResult<MessageFacts> {
  if (result.result === 'sent') return { kind: 'done', facts: { error: null } };
  // A message of this queue may be sent twice: its Message-ID says so.
  const { result: kind, isUnsure: _isUnsure, ...facts } = result;
  return { kind: kind === 'refused' ? 'refused' : 'retry', facts };
}
