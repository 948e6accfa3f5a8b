import type { EarlierAnswer, EarlierRecord } from '#lib/contracts/record-status.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import { sql } from '#lib/db/sql.ts';
import { isInForce } from '../person/positions-sql.ts';
import type { TransactionRow } from '../transaction/store.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';

/** SQL of the record in force for `element.key`, which is one index look-up. */
function recordInForce(subject: Statement, object: Statement): Statement {
  return sql`
    SELECT r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial", r.value,
           r.positions, r.committed_at AS "committedAt", r.expires_at AS "expiresAt",
           CASE WHEN r.origin = 'IMPORTED'
                THEN (SELECT a.source FROM imported_answers AS a WHERE a.record = r.id) END AS "importedFrom"
      FROM records AS r
     WHERE r.subject = ${subject} AND r.object = ${object} AND r.key = element.key AND ${isInForce}`;
}

/** The record in force of a subject and object for each key that has one. */
export async function readEarlier(
  db: Queries,
  subject: string,
  object: string,
  keys: readonly string[],
): Promise<EarlierRecord[]> {
  return db.query<EarlierRecord>(sql`
    SELECT found.* FROM unnest(${keys}::text[]) AS element (key)
     CROSS JOIN LATERAL (${recordInForce(sql`${subject}`, sql`${object}`)}) AS found`);
}

/** A transaction with the subject's earlier answers to its elements; none if the context is `silent`. */
export async function readTransactionWithEarlier(db: Queries, id: string) {
  const object = sql`coalesce(t.context->>'object', '')`;
  const row = await db.maybeOne<TransactionRow & { earlier: EarlierAnswer[] }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now,
           CASE WHEN (t.context->>'silent')::boolean THEN '[]'::jsonb ELSE (
             SELECT coalesce(jsonb_agg(to_jsonb(found)), '[]'::jsonb)
               FROM jsonb_array_elements_text(t.layout->'elements') AS element (key)
              CROSS JOIN LATERAL (${recordInForce(sql`t.subject`, object)}) AS found)
           END AS earlier
      FROM transactions AS t WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { earlier, ...rest } = row;
  return { ...toReadTransaction(rest), earlier };
}
