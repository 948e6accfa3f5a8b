import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { exponentialBackoff } from '#lib/deliveries/backoff.ts';
import type { AttemptResult, DeliveryKind, Settlement } from '#lib/deliveries/delivery-kind.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DeliveryMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { type AttemptParts, attemptDelivery } from '../commands/attempt-delivery.ts';
import { type ReadPart, readAhead } from '../commands/read-ahead.ts';
import type { Outcome, PeerRow } from '../domain/delivery.ts';
import { type Ending, endDeliveries, postponeDelivery } from '../queries/attempts.ts';

export interface PeerDeliveryParts extends AttemptParts {
  baseUrl: string;
  log: Logger;
  metrics?: DeliveryMetrics | undefined;
  /** There are events to be sent. */
  wakeRelay: () => void;
}

type PeerSettlement = Settlement<PeerRow, Outcome>;

/** Of one delivery, and of a peer that fails (docs/federation.md, "Answers on their way"). */
const failureBackoff = exponentialBackoff({ minMs: 500, maxMs: 60_000 });
/** Until an open decision is asked for again. */
const decisionBackoff = exponentialBackoff({ minMs: 60_000, maxMs: 15 * 60_000 });

const signingKeys = sql`peers AS p JOIN peer_keys AS k ON k.peer = p.id AND k.use = 'sig' WHERE p.url = t.peer_url`;

/** Where deliveries and queues of peers are (lib/deliveries). */
const peerTables = {
  targets: sql`queues`,
  targetKey: sql`t.peer_url`,
  targetKeyType: sql`text`,
  ready: sql`EXISTS (SELECT FROM peers AS p WHERE p.url = t.peer_url AND p.state = 'PAIRED')`,
  generation: sql`''`,
  rows: sql`deliveries`,
  rowKey: sql`(d.kind || ' ' || d.sid)`,
  rowKeyType: sql`text`,
  rowTarget: sql`d.peer_url`,
  // Only to the peer it was meant for: one with any of the keys noted in `pinned`. Past its deadline a delivery is ended by the sweeper
  // (end-overdue.ts), except for a question. A CASE, because PostgreSQL takes such conditions for rarely true, and would sort a long queue
  // rather than walk along its index (ADR 14). Replicas of the previous release lease each delivery.
  due: sql`
    d.not_before <= accord_now() AND
    CASE WHEN d.lease_until >= now() THEN false WHEN d.kind <> 'ask' AND d.deadline <= accord_now() THEN false
         ELSE d.pinned && ARRAY(SELECT k.kid FROM ${signingKeys}) END`,
  columns: sql`
    d.kind || ' ' || d.sid AS id, d.kind, d.peer_url AS url, d.sid, d.decision, d.attempts, d.deadline <= accord_now() AS overdue,
    (SELECT jsonb_build_object('id', p.id, 'url', p.url, 'name', p.name, 'subjectPrefix', p.subject_prefix)
       FROM peers AS p WHERE p.url = t.peer_url) AS peer,
    (SELECT jsonb_agg(jsonb_build_object('kid', k.kid, 'jwk', k.jwk)) FROM ${signingKeys}) AS signing`,
};

/** The kinds `peer-submit`, `peer-decide` and `peer-ask`: a target is a peer. */
export function createPeerDeliveries(parts: PeerDeliveryParts): DeliveryKind<PeerRow, Outcome> {
  const { transactions, wakeRelay } = parts;
  /** Rows that were read together have their parts read together. */
  const partsOf = new WeakMap<PeerRow, ReadPart>();
  return {
    name: 'peer',
    labelOf: ({ kind }) => `peer-${kind}`,
    tables: peerTables,
    backoff: failureBackoff,
    targetBackoff: failureBackoff,
    prepare(rows) {
      const sids = rows.filter(({ kind }) => kind === 'submit').map(({ sid }) => sid);
      const readPart = readAhead(transactions, sids);
      for (const row of rows) partsOf.set(row, readPart);
    },
    async attempt(row) {
      const readPart = partsOf.get(row) ?? readAhead(transactions, [row.sid]);
      return toResult(row, await attemptDelivery(parts, row, readPart));
    },
    describeError: () => ({ kind: 'failed', own: true, error: 'The attempt failed on our side.' }),
    settle: (tx, settlements) => settle(parts, tx, settlements),
    afterSettle: wakeRelay,
  };
}

function toResult({ attempts }: PeerRow, facts: Outcome): AttemptResult<Outcome> {
  if (facts.kind === 'failed') return { kind: 'retry', facts, own: facts.own };
  if (facts.kind === 'open')
    return { kind: 'retry', facts, waitMs: decisionBackoff(attempts + 1, Math.random()) };
  return { kind: 'done', facts };
}

async function settle(
  { baseUrl, log }: PeerDeliveryParts,
  tx: Queries,
  settlements: readonly PeerSettlement[],
): Promise<void> {
  const ended = settlements.filter(({ ending }) => ending === 'done');
  if (ended.length > 0)
    await endDeliveries(
      tx,
      ended.map((each) => endingOf(each, baseUrl)),
    );
  for (const { row, ending, facts, waitMs } of settlements) {
    if (ending === 'done') continue;
    const failure = facts.kind === 'failed' ? facts : undefined;
    const { deadline, error = null } = failure ?? {};
    await postponeDelivery(tx, row, { waitMs, error, deadline });
    if (failure)
      log.warn(
        failure.own ? 'delivery to peer postponed; failure on our side' : 'delivery to peer failed; retried',
        {
          ...{ id: row.peer.id, operation: row.kind, count: row.attempts + 1, code: failure.error },
        },
      );
  }
}

function endingOf({ row, facts }: PeerSettlement, source: string): Ending {
  if (facts.kind !== 'answered') return { delivery: row };
  const { receipt, says, tell } = facts;
  const { sid, url } = row;
  const answer = { receipt, verdict: says };
  if (!tell) return { delivery: row, answer };
  const data = { submission: sid, peer: url, ...tell };
  const event = { type: 'io.accord.submission.answered.v1' as const, source, subject: sid, data };
  return { delivery: row, answer, event };
}
