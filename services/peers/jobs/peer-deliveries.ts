import { batchReads } from '#lib/async/batch-reads.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { exponentialBackoff } from '#lib/deliveries/backoff.ts';
import { createDeliveryEngine, type DeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import type { DeliveryKind, Settlement } from '#lib/deliveries/delivery-kind.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import { type AttemptDependencies, attemptDelivery, type ReadPart } from '../commands/attempt-delivery.ts';
import type { AttemptFacts, PeerRow } from '../domain/delivery.ts';
import { endDeliveries, lockDeliveries, postponeDelivery } from '../queries/deliveries.ts';

interface Dependencies extends AttemptDependencies {
  metrics?: DeliveryMetrics | undefined;
  tracing?: Tracing | undefined;
  /** Closes connections of attempts that are running when the process stops. */
  abortConnections: () => Promise<void>;
}

/** Back-off of a delivery, and of a failing peer (docs/federation.md, "Answers on their way"). */
const failureBackoff = exponentialBackoff({ minMs: 500, maxMs: 60_000 });

const signingKeys = sql`
  peers AS p JOIN peer_keys AS k ON k.peer = p.id AND k.use = 'sig' WHERE p.url = t.peer_url`;

/** Tables and conditions for the delivery engine (docs/adr/0020-one-delivery-engine.md). */
const peerTables = {
  targets: sql`queues`,
  targetKey: sql`t.peer_url`,
  targetKeyType: sql`text`,
  ready: sql`EXISTS (SELECT FROM peers AS p WHERE p.url = t.peer_url AND p.state = 'PAIRED')`,
  generation: sql`''`,
  rows: sql`deliveries`,
  rowKey: sql`(d.kind || ' ' || d.sid || ' ' || d.peer_url)`,
  rowKeyType: sql`text`,
  rowTarget: sql`d.peer_url`,
  // A delivery goes only to a peer that lists a key to which the delivery is bound (`bindDeliveries`). The
  // job end-overdue.ts ends overdue deliveries; `ask` is still attempted for five minutes and then ends with
  // a rollback. A withdrawal or erasure waits for the part and the decision. A CASE hides these conditions
  // from PostgreSQL, which would expect few rows to meet them, and would sort a long queue instead of using
  // its index (ADR 14).
  due: sql`
    d.not_before <= accord_now() AND
    CASE WHEN d.kind <> 'ask' AND d.deadline <= accord_now() THEN false
         WHEN d.kind IN ('withdraw', 'erase') AND EXISTS (
                SELECT FROM deliveries AS part
                 WHERE part.kind IN ('submit', 'decide') AND part.peer_url = d.peer_url AND part.sid = d.sid)
           THEN false
         ELSE d.pinned && ARRAY(SELECT k.kid FROM ${signingKeys}) END`,
  columns: sql`
    d.kind || ' ' || d.sid || ' ' || d.peer_url AS id, d.kind, d.peer_url AS url, d.sid, d.decision, d.attempts,
    d.deadline, d.deadline <= accord_now() AS overdue, d.traceparent,
    (SELECT jsonb_build_object('id', p.id, 'url', p.url, 'name', p.name, 'subjectPrefix', p.subject_prefix)
       FROM peers AS p WHERE p.url = t.peer_url) AS peer,
    (SELECT jsonb_agg(jsonb_build_object('kid', k.kid, 'jwk', k.jwk)) FROM ${signingKeys}) AS signing`,
};

/**
 * Sends due deliveries: at most 4 at a time to a peer, 1 to a failing peer, and 64 from this process. The
 * kinds are `peer-submit`, `peer-decide`, `peer-ask`, `peer-withdraw` and `peer-erase`; a target is a peer.
 */
export function createDeliveryJob(dependencies: Dependencies): DeliveryEngine {
  /** Rows that were read together share a reader, so that few calls read their parts. */
  const readers = new WeakMap<PeerRow, ReadPart>();
  const kind: DeliveryKind<PeerRow, AttemptFacts> = {
    name: 'peer',
    labelOf: (row) => `peer-${row.kind}`,
    traceOf: ({ traceparent, peer }) => ({
      parent: traceparent ?? undefined,
      fields: { service: 'peers', peer: peer.id },
    }),
    tables: peerTables,
    backoff: failureBackoff,
    targetBackoff: failureBackoff,
    prepare(rows) {
      const sids = rows.flatMap((row) => (row.kind === 'submit' ? [row.sid] : []));
      const { readSubmissions } = dependencies.transactions;
      // As many parts as fit into an answer (ADR 13).
      const readPart = batchReads(sids, (some) => readSubmissions({ sids: some }));
      for (const row of rows) readers.set(row, readPart);
    },
    attempt: (row) => attemptDelivery(dependencies, row, readers.get(row) as ReadPart),
    describeError: () => ({ error: 'The attempt failed on our side.' }),
    settle: (tx, settlements) => settle(dependencies, tx, settlements),
    afterSettle: dependencies.wakeRelay,
  };
  const limits = { perTarget: 4, total: 64, readAhead: 28, maxUnsettled: 64, slowMs: 2_000, maxAgeMs: 1_000 };
  return createDeliveryEngine({ ...dependencies, kind, limits });
}

async function settle(
  { baseUrl, log }: Dependencies,
  tx: Queries,
  settlements: readonly Settlement<PeerRow, AttemptFacts>[],
): Promise<void> {
  const ended = settlements.filter(({ ending }) => ending !== 'retry');
  const names = settlements.map(({ row }) => row);
  if (ended.length < names.length) await lockDeliveries(tx, names);
  if (ended.length > 0) await endDeliveries(tx, ended, baseUrl);
  for (const { row, ending, facts, hasThrown, waitMs } of settlements) {
    if (ending !== 'retry') {
      if (row.targetFailures > 1) log.warn('peer answers deliveries again', { id: row.peer.id });
      continue;
    }
    const { error } = facts;
    await postponeDelivery(tx, row, { waitMs, error, isOwn: hasThrown });
    // The first of the peer's consecutive failures.
    if (error !== undefined && !hasThrown && row.targetFailures === 0)
      log.warn('delivery to peer failed; retried', {
        id: row.peer.id,
        operation: row.kind,
        count: row.attempts + 1,
        code: error,
      });
  }
}
