import type { Decision } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/request-extension.ts';

/**
 * Common table expressions that follow a change of state: `history` and `event`, from the changed rows in `t`.
 * The event is a fact with ids, state and the aggregate's version alone (docs/webhooks.md).
 * @param name the event's name, e.g. `committed`.
 * @param source BASE_URL.
 */
export function recordStateChange(name: string, source: string): Statement {
  return recordSteps(sql`t`, sql`${typeOf(name)}::text`, source);
}

/** The same for a transaction in `t` that is made and changed to what it is there by one statement. @param names of both events. */
export function recordTwoSteps([first, second]: readonly [string, string], source: string): Statement {
  return sql`steps AS (
      SELECT t.id, 1 AS version, 'CREATED' AS state, t.created_at AS changed_at, ${typeOf(first)}::text AS type FROM t
      UNION ALL
      SELECT t.id, t.version, t.state, t.changed_at, ${typeOf(second)}::text FROM t
    ), ${recordSteps(sql`steps`, sql`s.type`, source)}`;
}

const typeOf = (name: string) => `io.accord.consent.${name}.v1`;

function recordSteps(rows: Statement, type: Statement, source: string): Statement {
  return sql`history AS (
      INSERT INTO transaction_history (transaction, version, state, at) SELECT s.id, s.version, s.state, s.changed_at FROM ${rows} AS s
    ), ${consentEvents(rows, type, source)}`;
}

/** A common table expression: `event`, which tells of the transactions in `rows`. @param type SQL of the event's type; `s` is the row. */
export function consentEvents(rows: Statement, type: Statement, source: string): Statement {
  return sql`event AS (
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT e.id, 'accord.consents', e.transaction,
             jsonb_build_object('id', e.id, 'type', e.type, 'source', ${source}::text, 'subject', e.transaction,
               'time', to_json(e.changed_at), 'data', jsonb_build_object('transaction', e.transaction, 'state', e.state, 'version', e.version)) || ${requestExtension()}::jsonb
        FROM (SELECT gen_random_uuid() AS id, s.id AS transaction, s.changed_at, s.state, s.version, ${type} AS type FROM ${rows} AS s) AS e
    )`;
}

/**
 * Writes an event for each part in `from` (its columns `sid` and `location`): it may be sent, or its owner is to be told the decision.
 * Ids alone (federation.md, "Answers" 2).
 */
export function tellOfParts(
  name: 'released' | 'decided',
  { from, source, decision }: { from: Statement; source: string; decision?: Decision },
): Statement {
  return sql`
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT e.id, 'accord.peer-submissions', e.sid,
             jsonb_build_object('id', e.id, 'type', ${`io.accord.submission.${name}.v1`}::text, 'source', ${source}::text, 'subject', e.sid,
               'time', to_json(accord_now()), 'data',
               jsonb_strip_nulls(jsonb_build_object('submission', e.sid, 'peer', e.location, 'decision', ${decision}::text)))
             || ${requestExtension()}::jsonb
        FROM (SELECT gen_random_uuid() AS id, p.sid, p.location FROM ${from} AS p) AS e`;
}

/** Has the owner of one part told the decision. */
export async function tellOfPart(
  tx: Queries,
  { sid, location }: { sid: string; location: string },
  { source, decision }: { source: string; decision: Decision },
): Promise<void> {
  const from = sql`(SELECT ${sid}::text AS sid, ${location}::text AS location)`;
  await tx.query(tellOfParts('decided', { from, source, decision }));
}

/**
 * Tells of each record that one of the new ones in `given` takes the place of, in the transaction in `t`.
 * @param object SQL of what the answers are about.
 */
export function tellOfSuperseded({
  object,
  committedAt,
  source,
}: {
  object: Statement;
  committedAt: Date;
  source: string;
}): Statement {
  return sql`
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT s.event_id, 'accord.consents', s.transaction,
             jsonb_build_object('id', s.event_id, 'type', 'io.accord.record.superseded.v1', 'source', ${source}::text, 'subject', s.id,
               'time', to_json(${committedAt}::timestamptz), 'data', jsonb_build_object('record', s.id, 'transaction', s.transaction, 'by', s.by)) || ${requestExtension()}::jsonb
        -- Volatile in the output list: drawn once for each row, which a join with a row of its own is not.
        FROM (SELECT gen_random_uuid() AS event_id, old.id, old.transaction, g.id AS by
                FROM given AS g CROSS JOIN t CROSS JOIN LATERAL (
                  SELECT r.id, r.transaction FROM records AS r
                   WHERE r.state = 'COMMITTED' AND r.subject = t.subject AND r.object = ${object} AND r.key = g.key
                   ORDER BY r.committed_at DESC, r.id DESC LIMIT 1) AS old) AS s`;
}
