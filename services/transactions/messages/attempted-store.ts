import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Destination } from '../transaction/destination.ts';
import { messageEvents } from './store.ts';

/** What a message is stored with that may be sent once at most. */
export interface AttemptedMessage {
  id: string;
  transaction: string;
  destination: Destination;
  /** Keyed digest of the address. */
  address: Buffer;
}

/**
 * Stores a message before its only attempt, as failed with the error `unsure`: that stays true if the process
 * ends before it can tell how the attempt ended. The delivery engine does not send it, and it counts against
 * the limits.
 */
export async function insertAttempted(tx: Queries, message: AttemptedMessage): Promise<void> {
  const { id, transaction, destination, address } = message;
  await tx.query(sql`
    INSERT INTO messages (id, transaction, kind, channel, queue, destination, address, prefix, created_by, state,
                          attempts, not_before, error, created_at, counted_at)
    VALUES (${id}, ${transaction}, 'campaign', ${destination.channel}, 'campaigns', ${destination.masked}, ${address},
            ${destination.prefix}, '', 'FAILED', 1, accord_now(), 'unsure', accord_now(), accord_now())`);
}

/** How the only attempt of a message ended; `unsent`: there was no message. */
export interface AttemptResult {
  id: string;
  result: 'sent' | 'unsent' | 'failed';
  /** Class of the failure. */
  error: string | null;
}

/** Records how attempts ended, with `message.sent` and `message.failed`. @param source BASE_URL. */
export async function recordResults(
  tx: Queries,
  results: readonly AttemptResult[],
  source: string,
): Promise<void> {
  const unsent = results.filter(({ result }) => result === 'unsent').map(({ id }) => id);
  if (unsent.length > 0)
    await tx.query(sql`DELETE FROM messages AS m WHERE m.id = ANY(${unsent}::uuid[]) AND m.error = 'unsure'`);
  const told = results.filter(({ result }) => result !== 'unsent');
  if (told.length === 0) return;
  await tx.query(sql`
    WITH m AS (
      UPDATE messages AS m
         SET state = CASE WHEN g.result = 'sent' THEN 'SENT' ELSE 'FAILED' END, error = g.error,
             attempts = CASE WHEN g.result = 'sent' THEN 0 ELSE 1 END,
             sent_at = CASE WHEN g.result = 'sent' THEN accord_now() END
        FROM jsonb_to_recordset(${JSON.stringify(told)}::jsonb) AS g (id uuid, result text, error text)
       WHERE m.id = g.id AND m.error = 'unsure'
      RETURNING m.*
    )${messageEvents(source)}`);
}
