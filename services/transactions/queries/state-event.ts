import { sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/request-extension.ts';

/**
 * Common table expressions that follow a change of state: `history` and `event`, from the changed rows in `t`.
 * The event is a fact with ids, state and the aggregate's version alone (decisions.md §8).
 * @param name the event's name, e.g. `committed`.
 * @param source BASE_URL.
 */
export function recordStateChange(name: string, source: string) {
  return sql`history AS (
      INSERT INTO transaction_history (transaction, version, state, at) SELECT t.id, t.version, t.state, t.changed_at FROM t
    ), event AS (
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT e.id, 'accord.consents', e.transaction,
             jsonb_build_object('id', e.id, 'type', ${`io.accord.consent.${name}.v1`}::text, 'source', ${source}::text, 'subject', e.transaction,
               'time', to_json(e.changed_at), 'data', jsonb_build_object('transaction', e.transaction, 'state', e.state, 'version', e.version)) || ${requestExtension()}::jsonb
        FROM (SELECT gen_random_uuid() AS id, t.id AS transaction, t.changed_at, t.state, t.version FROM t) AS e
    )`;
}
