import type { Queries } from '#lib/db/database.ts';
import { type Statement as Sql, sql } from '#lib/db/sql.ts';
import { clock, isInForce } from '../person/positions-sql.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { ReadTransaction, Transaction } from '../transaction/transaction.ts';
import { choiceOf, type Question, type Source, type Standing, type Statement } from './in-force.ts';

/** SQL: the members of a {@link Statement} of a record `r`, as JSON. */
export const statement = sql`jsonb_build_object(
  'id', r.id, 'key', r.key, 'type', r.type, 'value', r.value, 'positions', r.positions, 'source', r.source, 'givenAt', r.created_at,
  'committedAt', r.committed_at, 'position', coalesce(r.from_position, r.position),
  'endedConsent', r.withdraws IS NOT NULL, 'isImported', r.origin = 'IMPORTED', 'isInForce', r.from_position IS NOT NULL AND r.until_position IS NULL,
  'isOrdered', r.source IS NOT NULL AND r.withdraws IS NOT NULL AND EXISTS (
    SELECT FROM transactions AS o WHERE o.id = r.transaction AND o.kind = 'WITHDRAWAL'))`;

/** A {@link statement} as it is read. */
export type StoredStatement = Omit<Statement, 'givenAt' | 'committedAt' | 'choice'> & {
  key: string;
  type: string;
  value: string[];
  positions: number[] | null;
  givenAt: string;
  committedAt: string;
};

/** From when on other statements about a question may count as later than the statement to be decided. */
export interface Since {
  /** The source of the statement. */
  source: Source;
  /** When it was given, or when it arrived, if that is earlier. */
  at: Date;
}

/** Which questions of a person to read. */
export interface AskedQuestions {
  subject: string;
  object: string;
  keys: readonly string[];
}

/** The columns of {@link standingColumns}. */
export interface StandingRow {
  position: number;
  readAt: Date;
  statements: StoredStatement[];
  orders: { key: string; at: string }[];
}

/**
 * What a person has said about questions: the statements in force, and with `since` those that may count as
 * later. Each question is a few index look-ups.
 */
export async function readStanding(db: Queries, asked: AskedQuestions, since?: Since): Promise<Standing> {
  return toStanding(await db.one<StandingRow>(sql`SELECT ${standingColumns(asked, since)}`));
}

/** SQL of {@link readStanding}: columns of {@link StandingRow}. */
export function standingColumns({ subject, object, keys }: AskedQuestions, since?: Since): Sql {
  const about = sql`r.subject = ${subject} AND r.object = ${object}`;
  const asked = sql`r.key = ANY(${keys}::text[])`;
  return sql`
    coalesce((SELECT s.position FROM subjects AS s WHERE s.name = ${subject}), 0) AS position, ${clock} AS "readAt",
    (SELECT coalesce(jsonb_agg(found.statement), '[]'::jsonb) FROM (
       SELECT ${statement} AS statement FROM records AS r WHERE ${about} AND ${asked} AND ${isInForce}
       ${since ? laterStatements(about, asked, since) : sql``}) AS found) AS statements,
    ${since?.source ? readOrders(subject, object, keys, since.source) : sql`'[]'::jsonb`} AS orders`;
}

export function toStanding({ position, readAt, statements, orders }: StandingRow): Standing {
  return { position, now: readAt, questions: toQuestions(statements, orders) };
}

function laterStatements(about: Sql, asked: Sql, { source, at }: Since): Sql {
  return sql`
     UNION
    SELECT ${statement} FROM records AS r
     WHERE ${about} AND ${asked} AND r.state = 'COMMITTED' AND r.until_position IS NOT NULL AND r.until_at > ${at}
     UNION
    SELECT ${statement} FROM records AS r
     WHERE ${about} AND ${asked} AND r.state = 'COMMITTED' AND r.source = ${source} AND r.created_at > ${at}`;
}

function readOrders(subject: string, object: string, keys: readonly string[], source: string): Sql {
  return sql`(
    SELECT coalesce(jsonb_agg(jsonb_build_object('key', o.key, 'at', o.withdrawn_at)), '[]'::jsonb)
      FROM leader_orders AS o
     WHERE o.subject = ${subject} AND o.object = ${object} AND o.key = ANY(${keys}::text[])
       AND o.source = ${source})`;
}

function toQuestions(
  statements: readonly StoredStatement[],
  orders: readonly { key: string; at: string }[],
): Map<string, Question> {
  const keys = new Set([...statements, ...orders].map(({ key }) => key));
  return new Map(
    [...keys].map((key): [string, Question] => {
      const order = orders.find((each) => each.key === key);
      const own = statements.filter((each) => each.key === key).map(toStatement);
      return [key, { statements: own, orderedAt: order ? new Date(order.at) : null }];
    }),
  );
}

export function toStatement(stored: StoredStatement): Statement {
  const { key: _key, type, value, positions, givenAt, committedAt, ...rest } = stored;
  return {
    ...rest,
    choice: choiceOf({ type, value, positions }),
    givenAt: new Date(givenAt),
    committedAt: new Date(committedAt),
  };
}

/** A transaction with what its person has said about its own questions. */
export async function readTransactionToAnswer(
  db: Queries,
  id: string,
): Promise<(ReadTransaction & { standing: Standing }) | undefined> {
  const row = await db.maybeOne<
    Transaction & { now: Date; position: number | null; statements: StoredStatement[] }
  >(sql`
    SELECT ${transactionColumns}, accord_now() AS now, s.position,
           (SELECT coalesce(jsonb_agg(${statement}), '[]'::jsonb)
              FROM jsonb_array_elements_text(t.layout->'elements') AS element (key)
              JOIN records AS r ON r.subject = t.subject AND r.object = coalesce(t.context->>'object', '')
               AND r.key = element.key AND ${isInForce}) AS statements
      FROM transactions AS t LEFT JOIN subjects AS s ON s.name = t.subject WHERE t.id = ${id}`);
  if (!row) return undefined;
  const { position, statements, ...rest } = row;
  const standing = { position: position ?? 0, now: row.now, questions: toQuestions(statements, []) };
  return { ...toReadTransaction(rest), standing };
}

/**
 * How many days orders of leaders are kept: a part may be stated to be given at most 121 days before it
 * arrives (`timeAtLeader`).
 */
const orderDays = 122;

/** Deletes orders that no part can be older than. @returns how many, at most `limit`. */
export async function deleteOldOrders(db: Queries, limit: number): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM leader_orders AS o
     WHERE (o.subject, o.object, o.key, o.source) IN (
       SELECT d.subject, d.object, d.key, d.source FROM leader_orders AS d
        WHERE d.withdrawn_at < accord_now() - ${orderDays} * interval '1 day' LIMIT ${limit}
        FOR UPDATE SKIP LOCKED)
    RETURNING o.source`);
  return deleted.length;
}

/** Deletes the orders about an erased person. @param peer only those of this leader; null: all. */
export async function deleteOrdersOf(tx: Queries, subject: string, peer: string | null): Promise<void> {
  await tx.query(sql`
    DELETE FROM leader_orders AS o WHERE o.subject = ${subject} AND o.source = coalesce(${peer}, o.source)`);
}

/** Stores when a person withdrew questions at a leader, unless a later order is stored. */
export async function storeOrder(
  tx: Queries,
  of: { subject: string; object: string; keys: readonly string[]; source: string; withdrawnAt: Date },
): Promise<void> {
  await tx.query(sql`
    INSERT INTO leader_orders AS o (subject, object, key, source, withdrawn_at)
    SELECT ${of.subject}, ${of.object}, k.key, ${of.source}, ${of.withdrawnAt}
      FROM unnest(${of.keys}::text[]) AS k (key)
    ON CONFLICT (subject, object, key, source)
      DO UPDATE SET withdrawn_at = greatest(o.withdrawn_at, excluded.withdrawn_at)`);
}
