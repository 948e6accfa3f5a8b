import { type Statement, sql } from '#lib/db/sql.ts';
import { tellOfParts } from './submission-events.ts';

/**
 * Common table expressions that undo what the transactions in `t` had submitted: records never come into force, sealed parts are deleted,
 * and the owners of those that were sent are told.
 */
export function undoSubmission(source: string): Statement {
  return sql`undone AS (
      UPDATE records AS r SET state = 'ROLLED_BACK' FROM t WHERE r.transaction = t.id AND r.state = 'PENDING'
    ), undrafted AS (
      DELETE FROM receipt_drafts AS d USING t WHERE d.transaction = t.id
    ), dropped AS (
      UPDATE followers AS f SET state = 'DROPPED', version = f.version + 1, sealed = NULL, changed_at = t.changed_at
        FROM t, followers AS was
       WHERE f.transaction = t.id AND was.sid = f.sid AND f.state IN ('WAITING', 'SENDING', 'HELD')
      RETURNING f.sid, f.location, was.state <> 'WAITING' AS sent
    ), decided AS (${tellOfParts('decided', { from: sql`(SELECT d.sid, d.location FROM dropped AS d WHERE d.sent)`, source, decision: 'rollback' })}
    )`;
}
