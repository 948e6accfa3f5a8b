import { LRUCache } from 'lru-cache';
import type { Failure } from '#lib/errors/fail.ts';
import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { MessageMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { isByStranger } from '../transaction/transaction.ts';
import { countHourly, countRecentMessages } from './counts-store.ts';
import type { HourlyLimit, MessageLimits, ReachedLimit } from './limits.ts';
import { hourlyRoom, reachedHourly, reachedLimit } from './limits.ts';
import type { DestinationDigests, Message, MessageSecrets } from './message.ts';
import type { Messaging } from './queue.ts';
import { insertMessage, isErased } from './store.ts';

interface MessagingDependencies extends Pick<Messaging, 'channels' | 'box'> {
  limits: MessageLimits;
  digests: DestinationDigests;
  log: Logger;
  metrics: Pick<MessageMetrics, 'countFailed' | 'countLimited'> | undefined;
}

/** The queue of messages with its limits (docs/messages.md). */
export function createMessaging({
  channels,
  box,
  limits,
  digests,
  log,
  metrics,
}: MessagingDependencies): Messaging {
  const reportHourly = createHourlyReport({ log, metrics });
  const reportLimited = ({ id, kind, channel }: Pick<Message, 'id' | 'kind' | 'channel'>) => {
    metrics?.countFailed({ kind: channel, error: 'limit' });
    log.warn('message not sent; not retried', { id, operation: `${channel} ${kind}`, code: 'limit' });
  };
  return {
    channels,
    box,
    addressOf: digests.addressOf,
    async openHour(tx, channel) {
      const kind = 'campaign' as const;
      // The pace of the campaign stands for the limit of a creator.
      const about = { kind, causedBy: null, room: hourlyRoom({ kind, channel }, limits) };
      const hour = await countHourly(tx, { ...about, isExact: true });
      let begun = 0;
      return async (destination) => {
        const { prefix } = destination;
        const address = digests.addressOf(destination);
        const recent = await countRecentMessages(tx, { address, prefix, isExact: false });
        const asked = { kind, hasPrefix: prefix !== null, isByStranger: false };
        const limit =
          reachedLimit(recent, asked, limits) ?? reachedHourly({ ...hour, mails: hour.mails + begun }, about);
        if (!limit) begun += 1;
        return limit?.waitSeconds ?? 0;
      };
    },
    async queue(
      tx,
      { transaction, kind, destination, causedBy, from, code, language },
      whenLimited = 'record',
    ) {
      if (transaction !== null && (await isErased(tx, transaction))) return undefined;
      const id = newUuid();
      const address = digests.addressOf(destination);
      const recent = await countRecentMessages(tx, { address, prefix: destination.prefix, causedBy });
      const isStranger = isByStranger({ createdBy: causedBy });
      const asked = { kind, hasPrefix: destination.prefix !== null, isByStranger: isStranger };
      const limit = reachedLimit(recent, asked, limits);
      if (limit && whenLimited === 'refuse') throw tooMany(limit);
      if (limit && whenLimited === 'drop') return undefined;
      const about = { kind, causedBy, room: hourlyRoom({ kind, channel: destination.channel }, limits) };
      const hourly = limit
        ? undefined
        : reachedHourly(await countHourly(tx, { ...about, isExact: whenLimited === 'refuse' }), about);
      if (hourly?.isReached) reportHourly(hourly);
      if (hourly && whenLimited === 'refuse') throw tooMany(hourly);
      const secrets: MessageSecrets = {
        to: destination.to,
        ...(from && { from }),
        ...(code && { code: code.text }),
        ...(language && { language }),
      };
      // A rollback afterwards is rare; the count is then too high by one.
      if (limit) reportLimited({ id, kind, channel: destination.channel });
      return insertMessage(tx, {
        id,
        transaction,
        kind,
        destination,
        queue: digests.queueOf(destination, kind),
        address,
        causedBy,
        code: code?.number ?? null,
        sealed: limit ? null : box.seal(id, JSON.stringify(secrets)),
        error: limit ? 'limit' : null,
        waits: hourly !== undefined,
      });
    },
  };
}

const hourMs = 3_600_000;

/** Counts each message that an hourly limit refuses or lets wait, and logs the first of an hour. */
function createHourlyReport({
  log,
  metrics,
}: Pick<MessagingDependencies, 'log' | 'metrics'>): (reached: HourlyLimit) => void {
  const logged = new LRUCache<string, true>({ max: 1_000, ttl: hourMs });
  return ({ limit, causedBy }) => {
    metrics?.countLimited(limit);
    const key = causedBy ?? '';
    if (logged.has(key)) return;
    logged.set(key, true);
    log.warn('hourly limit of messages reached; further ones are refused or wait', {
      code: limit,
      ...(causedBy !== null && { id: causedBy }),
    });
  };
}

function tooMany({ detail, waitSeconds }: ReachedLimit): Failure {
  return fail('too-many-requests', detail, {
    headers: { 'Retry-After': String(waitSeconds) },
    errors: [{ pointer: '', code: 'limit', detail }],
  });
}
