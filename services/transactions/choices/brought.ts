import type { ChoicesSession } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement as Sql, sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import { contactDigest } from '../person/contacts-sql.ts';

/**
 * What a session sees (docs/choices.md, "Answers that other organisations brought"): everything of the
 * person, or what parts brought in whose seal an address is that the person had confirmed at their leader.
 */
export type Scope = Pick<ChoicesSession, 'address'> | undefined;

/** SQL: that a part of the scope brought the record `r`, or what the record withdraws; after a condition. */
export function andBrought(scope: Scope): Sql {
  if (scope?.address === undefined) return empty;
  return sql`AND EXISTS (
    SELECT FROM part_addresses AS a
     WHERE a.digest = ${digestOf(scope.address)}
       AND a.transaction IN (r.transaction, (SELECT w.transaction FROM records AS w WHERE w.id = r.withdraws)))`;
}

/** The transactions of a person that parts of the scope brought; undefined: the scope is everything. */
export async function readBrought(
  db: Queries,
  subject: string,
  scope: Scope,
): Promise<ReadonlySet<string> | undefined> {
  if (scope?.address === undefined) return undefined;
  const rows = await db.query<{ id: string }>(sql`
    SELECT t.id FROM part_addresses AS a JOIN transactions AS t ON t.id = a.transaction
     WHERE a.digest = ${digestOf(scope.address)} AND t.subject = ${subject}`);
  return new Set(rows.map(({ id }) => id));
}

/** An instance whose forms asked questions of this one. */
export interface BroughtBy {
  name: string;
  /** Base URL. */
  location: string;
}

/** The leaders of the parts of a person, the one with the newest part first. */
export function readLeaders(db: Queries, subject: string, scope: Scope): Promise<BroughtBy[]> {
  const within =
    scope?.address === undefined
      ? empty
      : sql`AND EXISTS (SELECT FROM part_addresses AS a
                         WHERE a.transaction = t.id AND a.digest = ${digestOf(scope.address)})`;
  // The author of a part is its leader, by the name of that time.
  return db.query<BroughtBy>(sql`
    SELECT t.leader->>'location' AS location, (array_agg(t.author ORDER BY t.created_at DESC))[1] AS name
      FROM transactions AS t
     WHERE t.subject = ${subject} AND t.state = 'COMMITTED' AND t.leader IS NOT NULL AND t.kind IS NULL ${within}
     GROUP BY t.leader->>'location' ORDER BY max(t.created_at) DESC LIMIT ${maxLeaders}`);
}

const maxLeaders = 100;

/**
 * The address to which the link for a part goes: the one that the person confirmed at its leader, else the
 * person's own at this instance, if that is proven. Undefined without either, and for an unknown part.
 * Leaders choose the ids of their parts; of equal ones the first part counts.
 */
export async function readAddressOfPart(db: Queries, sid: string): Promise<string | undefined> {
  // The primary key begins with the peer. There are few peers, so each is looked up.
  const found = await db.maybeOne<{ address: string | null }>(sql`
    WITH RECURSIVE peer AS (
      (SELECT r.peer AS url FROM received_parts AS r ORDER BY r.peer LIMIT 1)
       UNION ALL
      SELECT (SELECT r.peer FROM received_parts AS r WHERE r.peer > p.url ORDER BY r.peer LIMIT 1)
        FROM peer AS p WHERE p.url IS NOT NULL)
    SELECT CASE WHEN a.digest IS NOT NULL THEN t.context->'subjectInfos'->>'emailAddress'
                WHEN c.digest IS NOT NULL THEN s.email_address END AS address
      FROM peer AS p JOIN received_parts AS r ON r.peer = p.url AND r.sid = ${sid}
      JOIN transactions AS t ON t.id = r.transaction AND t.state = 'COMMITTED'
      LEFT JOIN part_addresses AS a ON a.transaction = t.id
      LEFT JOIN subjects AS s ON s.name = t.subject
      LEFT JOIN contacts AS c ON c.subject = s.name AND c.proven
            AND c.digest = ${contactDigest(sql`s.email_address`)}
     ORDER BY r.received_at LIMIT 1`);
  return found?.address ?? undefined;
}

/**
 * Requires a session that sees everything of the person.
 * @throws Failure `forbidden`.
 */
export function requireWhole(session: ChoicesSession | undefined): void {
  if (session?.address !== undefined)
    throw fail(
      'forbidden',
      'This session only shows and withdraws what another organisation brought. Ask here with an address that this organisation knows.',
    );
}

function digestOf(address: string): Buffer {
  return Buffer.from(address, 'base64url');
}
