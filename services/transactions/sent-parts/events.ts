import type { Decision } from '#lib/contracts/parts.ts';
import type { Statement } from '#lib/db/sql.ts';
import { sql } from '#lib/db/sql.ts';
import { insertEvents } from '../transaction/events.ts';

/**
 * Inserts an event for each part in `from` (columns `sid` and `location`, for `released` also `deadline`).
 * @param name `released`, `decided`: by the leader. `held`: by the owner, whose service `peers` then asks for
 * the decision.
 */
export function partEvents(
  name: 'released' | 'decided' | 'held',
  { from, source, decision }: { from: Statement; source: string; decision?: Decision },
): Statement {
  return insertEvents(
    {
      from,
      topic: 'accord.peer-submissions',
      key: sql`s.sid`,
      type: sql`${`io.accord.submission.${name}.v1`}::text`,
      time: sql`accord_now()`,
      data: sql`jsonb_build_object('submission', s.sid, 'peer', s.location, 'decision', ${decision}::text,
        'deadline', ${name === 'released' ? sql`to_json(s.deadline)` : sql`NULL::text`})`,
    },
    source,
  );
}

/**
 * Inserts an event for each notice to the owner of a part in `from`, who is to be told of the withdrawal or
 * asked to erase. The service `peers` calculates the time of a withdrawal from the deadline (`orderHours`),
 * so an event that is published again states the same deadline.
 */
export function noticeEvents(from: Statement, source: string): Statement {
  return insertEvents(
    {
      from,
      topic: 'accord.peer-submissions',
      key: sql`s.recipient`,
      type: sql`'io.accord.submission.' || CASE WHEN s.erasure IS NULL THEN 'withdrawn' ELSE 'erased' END || '.v1'`,
      time: sql`accord_now()`,
      data: sql`jsonb_build_object('submission', s.recipient, 'peer', s.location, 'deadline',
        (SELECT w.changed_at + interval '720 hours' FROM transactions AS w WHERE w.id = s.withdrawal))`,
    },
    source,
  );
}

/**
 * Inserts an event for each part in `from`. There are three reasons: a verdict was reported, the part is
 * never sent, or no verdict was reported in time.
 * @param rows.from all columns of parts; default: `f`.
 */
export function verdictEvents(
  { type, extension, from = sql`f` }: { type: Statement; extension?: Statement; from?: Statement },
  source: string,
): Statement {
  return insertEvents(
    {
      from,
      topic: 'accord.consents',
      key: sql`s.transaction`,
      type,
      extension,
      time: sql`s.changed_at`,
      data: sql`jsonb_build_object(
        'transaction', s.transaction, 'peer', s.location, 'version', s.version, 'reason', s.reason)`,
    },
    source,
  );
}
