import type { Queries } from '#lib/db/database.ts';
import { type Statement as Sql, sql } from '#lib/db/sql.ts';

/**
 * SQL: the keyed digest by which a person is found by an address that it has: e-mail addresses without regard
 * to upper and lower case, telephone numbers without separators. So no index has the text of an address.
 */
export function contactDigest(address: Sql): Sql {
  return sql`sha256((SELECT k.key FROM contact_key AS k) || convert_to(
    CASE WHEN ${address} LIKE '%@%' THEN lower(${address})
         ELSE regexp_replace(${address}, '[^+0-9]', '', 'g') END, 'UTF8'))`;
}

/**
 * A common table expression that keeps the addresses of a person for the search.
 * @param given SQL: the name of the person, its contact data (jsonb), their FROM clause, and whether the
 * organisation has entered them.
 */
export function storeContacts({
  subject,
  infos,
  from,
  isProven,
}: Record<'subject' | 'infos' | 'from' | 'isProven', Sql>): Sql {
  return sql`contact AS (
      INSERT INTO contacts AS k (digest, subject, proven)
      SELECT DISTINCT ${contactDigest(sql`c.address`)}, ${subject}, ${isProven}
        FROM ${from} CROSS JOIN unnest(ARRAY[${infos}->>'emailAddress', ${infos}->>'phoneNumber']) AS c (address)
       WHERE c.address <> ''
      ON CONFLICT (digest, subject) DO UPDATE SET proven = true WHERE excluded.proven AND NOT k.proven
    )`;
}

/**
 * SQL: whether the organisation entered the contact data of a transaction: an administrator, an operator, a
 * clerk or a program did, or the issuer has verified the address of an account. What strangers and peers name
 * is proven by a code alone.
 */
export function isEntered({ createdBy, isAddressKnown }: Record<'createdBy' | 'isAddressKnown', Sql>): Sql {
  return sql`(${isAddressKnown} AND ${createdBy} ~ '^(staff |key:|user:)')`;
}

/**
 * Proves an address of a person: a code that was sent there came back.
 * @param address of the mail; nothing happens for an address that the person does not have.
 */
export async function proveContact(tx: Queries, subject: string, address: string): Promise<void> {
  await tx.query(sql`
    UPDATE contacts AS c SET proven = true
     WHERE c.subject = ${subject} AND c.digest = ${contactDigest(sql`${address}::text`)} AND NOT c.proven`);
}

/** The e-mail address of a person, if the organisation entered it or a code that was sent there came back. */
export async function readProvenMail(db: Queries, subject: string): Promise<string | undefined> {
  const found = await db.maybeOne<{ address: string }>(sql`
    SELECT s.email_address AS address
      FROM subjects AS s JOIN contacts AS c ON c.subject = s.name AND c.proven
     WHERE s.name = ${subject} AND c.digest = ${contactDigest(sql`s.email_address`)}`);
  return found?.address;
}

/** A person who has an address. */
export interface PersonOfAddress {
  id: string;
  name: string;
  defaultLanguage: string | null;
  choicesEpoch: number;
  /**
   * Null: the address is proven, and opens everything of the person. Else the digest of the address, which
   * opens only what parts brought that were confirmed by it.
   */
  address: Buffer | null;
}

/**
 * The people who have a proven address, and those of whom parts brought answers that were confirmed by the
 * address, in the order in which they became known; at most `limit`. Proven ones come first: no peer can
 * crowd them out.
 */
export function readPeopleOf(db: Queries, address: string, limit: number): Promise<PersonOfAddress[]> {
  return db.query<PersonOfAddress>(sql`
    WITH asked AS MATERIALIZED (SELECT ${contactDigest(sql`${address}::text`)} AS digest
    ), found AS (
      SELECT c.subject, true AS proven FROM asked AS q JOIN contacts AS c ON c.digest = q.digest AND c.proven
       UNION ALL
      SELECT t.subject, false FROM asked AS q JOIN part_addresses AS a ON a.digest = q.digest
        JOIN transactions AS t ON t.id = a.transaction AND t.state = 'COMMITTED')
    SELECT s.id, s.name, s.default_language AS "defaultLanguage", s.choices_epoch AS "choicesEpoch",
           CASE WHEN NOT bool_or(f.proven) THEN (SELECT q.digest FROM asked AS q) END AS address
      FROM found AS f JOIN subjects AS s ON s.name = f.subject
     GROUP BY s.id
     ORDER BY bool_or(f.proven) DESC, s.created_at, s.id LIMIT ${limit}`);
}

/**
 * Keeps the address of a subject for the search.
 * @param given.isProven whether the organisation enters it. @param given.former the address that it replaces.
 */
export async function replaceContact(
  tx: Queries,
  subject: string,
  { address, former = null, isProven }: { address: string | null; former?: string | null; isProven: boolean },
): Promise<void> {
  if (former !== null)
    await tx.query(sql`
      DELETE FROM contacts AS c WHERE c.subject = ${subject} AND c.digest = ${contactDigest(sql`${former}::text`)}`);
  if (address)
    await tx.query(sql`
      INSERT INTO contacts AS k (digest, subject, proven)
      VALUES (${contactDigest(sql`${address}::text`)}, ${subject}, ${isProven})
      ON CONFLICT (digest, subject) DO UPDATE SET proven = true WHERE excluded.proven AND NOT k.proven`);
}
