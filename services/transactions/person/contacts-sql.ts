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
 * @param subject SQL of its name. @param infos SQL of its contact data (jsonb). @param from its FROM clause.
 */
export function storeContacts(subject: Sql, infos: Sql, from: Sql): Sql {
  return sql`contact AS (
      INSERT INTO contacts (digest, subject)
      SELECT ${contactDigest(sql`c.address`)}, ${subject}
        FROM ${from} CROSS JOIN unnest(ARRAY[${infos}->>'emailAddress', ${infos}->>'phoneNumber']) AS c (address)
       WHERE c.address <> ''
      ON CONFLICT DO NOTHING
    )`;
}

/** Keeps the address of a subject for the search. @param former the address that it replaces. */
export async function replaceContact(
  tx: Queries,
  subject: string,
  address: string | null,
  former: string | null = null,
): Promise<void> {
  if (former !== null)
    await tx.query(sql`
      DELETE FROM contacts AS c WHERE c.subject = ${subject} AND c.digest = ${contactDigest(sql`${former}::text`)}`);
  if (address)
    await tx.query(sql`
      INSERT INTO contacts (digest, subject) VALUES (${contactDigest(sql`${address}::text`)}, ${subject})
      ON CONFLICT DO NOTHING`);
}
