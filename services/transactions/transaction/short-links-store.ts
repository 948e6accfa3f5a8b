import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type TokenUse, tokenExpiry } from './links.ts';
import type { ShortCodes } from './short-link.ts';
import { type TransactionRow, toReadTransaction, transactionColumns } from './store.ts';
import type { ReadTransaction } from './transaction.ts';

/** What a short link stands for: a token of a transaction. */
export interface ShortLink {
  use: TokenUse;
  epoch: number;
  expiresAt: Date;
}

/** Stores a link, once. @returns false if the digest is that of a link to something else. */
async function insertShortLink(
  db: Queries,
  digest: Buffer,
  { transaction, use, epoch, expiresAt }: ShortLink & { transaction: string },
): Promise<boolean> {
  const rows = await db.query(sql`
    INSERT INTO short_links AS l (digest, transaction, use, epoch, expires_at)
    VALUES (${digest}, ${transaction}, ${use}, ${epoch}, ${expiresAt})
    ON CONFLICT (digest) DO UPDATE SET expires_at = greatest(l.expires_at, excluded.expires_at)
     WHERE l.transaction = excluded.transaction AND l.use = excluded.use
    RETURNING l.transaction`);
  return rows.length > 0;
}

/** The link with one of these digests, and its transaction. */
export async function readShortLink(
  db: Queries,
  digests: readonly Buffer[],
): Promise<(ReadTransaction & { link: ShortLink }) | undefined> {
  const row = await db.maybeOne<TransactionRow & ShortLink & { linkExpiresAt: Date }>(sql`
    SELECT ${transactionColumns}, accord_now() AS now, l.use, l.epoch, l.expires_at AS "linkExpiresAt"
      FROM short_links AS l JOIN transactions AS t ON t.id = l.transaction
     WHERE l.digest = ANY(${digests}::bytea[])`);
  if (!row) return undefined;
  const { use, epoch, linkExpiresAt, ...rest } = row;
  return { ...toReadTransaction(rest), link: { use, epoch, expiresAt: linkExpiresAt } };
}

/**
 * Deletes links that have ended. A link to answers opens their receipt as long as the receipt is valid, as
 * the token for which it stands does.
 */
export async function deleteEndedLinks(db: Queries, limit: number): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM short_links AS l
     WHERE l.digest IN (
       SELECT e.digest FROM short_links AS e JOIN transactions AS t ON t.id = e.transaction
        WHERE e.expires_at < accord_now()
          AND NOT (t.state = 'COMMITTED' AND (t.valid_until IS NULL OR t.valid_until > accord_now()))
        ORDER BY e.expires_at LIMIT ${limit})
    RETURNING l.digest`);
  return deleted.length;
}

/** A code is that of another link once in 10^9 times, among a million. */
const maxTries = 3;

/**
 * Makes a short link to a transaction, which lives as long as a token that is minted now.
 * @param id of what has the link: the same id has the same link, so that a mail that is sent again does, too.
 */
export async function storeShortLink(
  { db, shortCodes, instance }: { db: Queries; shortCodes: ShortCodes; instance: { baseUrl: string } },
  read: ReadTransaction,
  { id, use }: { id: string; use: TokenUse },
): Promise<{ url: string; expiresAt: Date }> {
  const expiresAt = tokenExpiry(read, use);
  const { id: transaction, tokenEpoch: epoch } = read.transaction;
  for (let attempt = 1; attempt <= maxTries; attempt++) {
    const { code, digest } = shortCodes.codeOf(`${id} ${attempt}`);
    if (await insertShortLink(db, digest, { transaction, use, epoch, expiresAt }))
      return { url: `${instance.baseUrl}/l/${code}`, expiresAt };
  }
  throw new Error('no code is free');
}
