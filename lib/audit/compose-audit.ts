import { randomUUID } from 'node:crypto';
import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { type AuditInput, createAuditList, type RelatedTargets } from '#lib/audit/list-lines.ts';
import { blankLines, type LineQueue, readHead, sealLines, type TreeHead } from '#lib/audit/seal-lines.ts';
import { readConsistencyProof } from '#lib/audit/tree-nodes.ts';
import type { AuditArea, AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { Database } from '#lib/db/database.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import type { NewEvent } from '#lib/events/outbox.ts';
import type { Handler } from '#lib/http/operation.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** A service's part in the audit log. */
export interface Audit {
  /** Answers `GET /audit/<area>`. */
  list: Handler<AuditInput>;
  /** Seals new lines and publishes the head of the tree, every two seconds. */
  sealer: RepeatedWork;
  /** Blanks lines older than the retention of the log, hourly. */
  sweeper: RepeatedWork;
  /** For the service peers, which asks witnesses (docs/evidence.md). */
  operations: AuditOperations;
  start(): void;
  stop(): Promise<void>;
}

interface Options {
  area: AuditArea;
  db: Database;
  bus: Pick<EventBus, 'publish'>;
  log: Logger;
  /** `auditRetention`: the age at which lines are blanked, ISO 8601. */
  instance: { readonly baseUrl: string; readonly auditRetention: string };
  related?: RelatedTargets;
  /** Lines that are queued until they are sealed. */
  queue?: LineQueue;
}

const sealMs = 2_000;
const sweepMs = 60 * 60_000;
/** Lines blanked by one statement. */
const batch = 5_000;

/** Composes the list, the sealer and the retention of a schema's audit log. */
export function composeAudit(options: Options): Audit {
  const { db, log, instance } = options;
  const sealer = createSealer(options);
  const sweeper = createRepeatedWork({
    everyMs: sweepMs,
    async work(isStopped) {
      while (
        !isStopped() &&
        (await blankLines(db, { retention: instance.auditRetention, limit: batch })) === batch
      );
    },
    onError: (error) => log.warn('failed to blank old audit lines; retried in an hour', { error }),
  });
  return {
    list: createAuditList(db, options.related),
    sealer,
    sweeper,
    operations: {
      async auditProof(sizes) {
        const proof = await readConsistencyProof(db, sizes);
        return { proof: proof?.map((hash) => hash.toString('hex')) ?? null };
      },
    },
    start() {
      sealer.start();
      sweeper.start();
    },
    async stop() {
      await Promise.all([sealer.stop(), sweeper.stop()]);
    },
  };
}

/**
 * Heads are published without the outbox: a lost one is replaced by the next, or by that of the next start.
 */
function createSealer({ area, db, bus, log, instance, queue }: Options): RepeatedWork {
  /** The head to publish; undefined while the newest was published, or another replica publishes it. */
  let unpublished: TreeHead | undefined;
  let isFirst = true;
  let isPublishing = false;

  async function publish(): Promise<void> {
    const head = unpublished;
    if (!head || isPublishing) return;
    isPublishing = true;
    try {
      const event = headEvent(head);
      const [unsent] = await bus.publish([{ topic: 'accord.heads', key: area, event }]);
      if (unsent) throw unsent.error;
      if (unpublished === head) unpublished = undefined;
    } catch (error) {
      log.warn('failed to publish the head of the audit log; retried in 2 seconds', { error });
    } finally {
      isPublishing = false;
    }
  }

  function headEvent({ size, root }: TreeHead) {
    const event: NewEvent<'accord.heads'> = {
      type: 'io.accord.audit.head.v1',
      source: instance.baseUrl,
      subject: area,
      data: { area, size, root },
    };
    return { id: randomUUID(), ...event, time: new Date().toISOString() };
  }

  return createRepeatedWork({
    everyMs: sealMs,
    async work(isStopped) {
      const sealed = await sealLines(db, { ...(queue && { queue }), isStopped });
      unpublished = sealed ?? unpublished ?? (isFirst ? await readHead(db) : undefined);
      isFirst = false;
      // Not awaited, so that a stop does not wait for a broker that hangs.
      void publish();
    },
    onError: (error) => log.warn('failed to seal the audit log; retried in 2 seconds', { error }),
  });
}
