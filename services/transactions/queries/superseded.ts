import { type Statement, sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/request-extension.ts';

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
