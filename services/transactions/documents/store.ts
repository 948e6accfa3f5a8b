import { createHash } from 'node:crypto';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import type { ConsentContext } from '../transaction/context.ts';
import type { DocumentType } from './document-type.ts';

/** A scan of answers on paper, as it was uploaded. */
export interface Document {
  mediaType: DocumentType;
  body: Buffer;
}

/** Stores a document, which no transaction has yet. @returns its SHA-256 in hexadecimal digits. */
export async function insertDocument(
  db: Queries,
  box: SecretBox,
  { mediaType, body }: Document,
): Promise<string> {
  const id = newUuid();
  const digest = createHash('sha256').update(body).digest();
  await db.query(sql`
    INSERT INTO documents (id, sha256, media_type, sealed, created_at)
    VALUES (${id}, ${digest}, ${mediaType}, ${box.seal(id, body)}, accord_now())`);
  return digest.toString('hex');
}

/**
 * Gives a created transaction the document that its context names, if it names one.
 * @throws Failure `invalid` if it was not uploaded, or longer than an hour ago.
 */
export async function claimDocument(
  tx: Queries,
  { id, context }: { id: string; context: ConsentContext },
  pointer: string,
): Promise<void> {
  const { document } = context.collection ?? {};
  if (document === undefined) return;
  const claimed = await tx.maybeOne(sql`
    UPDATE documents AS d SET transaction = ${id}
     WHERE d.id = (SELECT f.id FROM documents AS f
                    WHERE f.sha256 = ${Buffer.from(document, 'hex')} AND f.transaction IS NULL
                      AND f.created_at > accord_now() - interval '1 hour'
                    ORDER BY f.created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING d.id`);
  if (claimed || (await hasDocument(tx, id))) return;
  const fault = { pointer, code: 'invalid', detail: 'was not uploaded in the last hour' };
  throw fail('invalid', 'The context is not valid.', { errors: [fault] });
}

async function hasDocument(tx: Queries, transaction: string): Promise<boolean> {
  const row = await tx.maybeOne(sql`SELECT 1 FROM documents AS d WHERE d.transaction = ${transaction}`);
  return row !== undefined;
}

/** The document of a transaction. */
export async function readDocument(
  db: Queries,
  box: SecretBox,
  transaction: string,
): Promise<Document | undefined> {
  const row = await db.maybeOne<{ id: string; mediaType: DocumentType; sealed: Buffer }>(sql`
    SELECT d.id, d.media_type AS "mediaType", d.sealed FROM documents AS d WHERE d.transaction = ${transaction}`);
  return row && { mediaType: row.mediaType, body: box.openBytes(row.id, row.sealed) };
}

/** Deletes documents that no transaction has had for an hour, at most `limit`. @returns their number. */
export async function deleteUnclaimed(db: Queries, limit: number): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM documents AS d
     WHERE d.id IN (SELECT f.id FROM documents AS f
                     WHERE f.transaction IS NULL AND f.created_at < accord_now() - interval '1 hour'
                     ORDER BY f.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING d.id`);
  return deleted.length;
}

/** Deletes the documents of transactions that are erased. */
export async function eraseDocuments(tx: Queries, transactions: readonly string[]): Promise<void> {
  await tx.query(sql`DELETE FROM documents AS d WHERE d.transaction = ANY(${transactions}::text[])`);
}
