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
