import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { SignedReceipt } from './receipt.ts';

/** What is kept of an erased receipt. */
export interface ErasedReceipt {
  /** SHA-256 of the JWS, base64url. */
  digest: string;
  kid: string;
  signedAt: Date;
}

export async function readErasedReceipt(
  db: Queries,
  transaction: string,
): Promise<ErasedReceipt | undefined> {
  const row = await db.maybeOne<Omit<ErasedReceipt, 'digest'> & { digest: Buffer }>(sql`
    SELECT e.digest, e.kid, e.signed_at AS "signedAt"
      FROM erased_receipts AS e WHERE e.transaction = ${transaction}`);
  return row && { ...row, digest: row.digest.toString('base64url') };
}

export function readReceipt(db: Queries, transaction: string): Promise<SignedReceipt | undefined> {
  return db.maybeOne<SignedReceipt>(
    sql`SELECT r.body, r.jws FROM receipts AS r WHERE r.transaction = ${transaction}`,
  );
}

/** The body of a receipt, or of its draft while the answers are submitted and not committed. */
export async function readReceiptBody(db: Queries, transaction: string): Promise<string | undefined> {
  const row = await db.maybeOne<{ body: string }>(sql`
    SELECT r.body FROM receipts AS r WHERE r.transaction = ${transaction}
     UNION ALL
    SELECT d.body FROM receipt_drafts AS d WHERE d.transaction = ${transaction}
     LIMIT 1`);
  return row?.body;
}

/** Where the answers of a transaction were taken over from; undefined if it is no import. */
export function readImportSource(db: Queries, transaction: string): Promise<{ source: string } | undefined> {
  return db.maybeOne<{ source: string }>(sql`
    SELECT a.source FROM records AS r JOIN imported_answers AS a ON a.record = r.id
     WHERE r.transaction = ${transaction} LIMIT 1`);
}

/**
 * SQL: what pages and withdrawals need of a receipt, for the transaction `t` of an import, which has none:
 * the texts of the versions that were answered.
 */
const importedBody = sql`
  SELECT jsonb_build_object('receiptId', t.id, 'transaction', t.id, 'subject', t.subject,
           'language', min(i.item->>'lang'), 'jurisdiction', min(i.item->'texts'->>'jurisdiction'),
           'privacyPolicyUrl', min(i.item->'texts'->>'privacyPolicyUrl'),
           'timestamp', min(r.committed_at), 'information', (array_agg(i.item))[1],
           'consents', jsonb_agg(e.item || jsonb_build_object('answer', r.value) ORDER BY r.key))::text
    FROM records AS r
    JOIN imported_texts AS e ON e.identifier = concat_ws('/', 'element', r.type, r.key, r.serial)
    JOIN imported_texts AS i ON i.identifier = concat_ws('/', 'element', 'information', r.info_key, r.info_serial)
   WHERE r.transaction = t.id`;

/** Bodies of receipts, of their drafts before the commit, and what stands for them after an import. */
export async function readReceiptBodies(
  db: Queries,
  transactions: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ transaction: string; body: string }>(sql`
    SELECT r.transaction, r.body FROM receipts AS r WHERE r.transaction = ANY(${transactions}::text[])
    UNION ALL
    SELECT d.transaction, d.body FROM receipt_drafts AS d WHERE d.transaction = ANY(${transactions}::text[])
    UNION ALL
    SELECT t.id, (${importedBody}) FROM transactions AS t
     WHERE t.id = ANY(${transactions}::text[]) AND t.kind = 'IMPORT' AND t.erased_at IS NULL`);
  return new Map(rows.map(({ transaction, body }) => [transaction, body]));
}
