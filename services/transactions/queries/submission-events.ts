import type { Decision } from '#lib/contracts/submissions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { requestExtension } from '#lib/events/request-extension.ts';

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
