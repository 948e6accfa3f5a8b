import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Position } from '#lib/http/lists.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { contactDigest, replaceContact } from './contacts-sql.ts';

export interface Subject {
  id: string;
  name: string;
  emailAddress: string | null;
  defaultLanguage: string | null;
  createdAt: Date;
  modifiedAt: Date;
}

const columns = sql`s.id, s.name, s.email_address AS "emailAddress", s.default_language AS "defaultLanguage",
  s.created_at AS "createdAt", s.modified_at AS "modifiedAt"`;

/**
 * @param given.isProven whether the organisation enters the address.
 * @returns undefined if a subject of that name exists already, unless only strangers have named it.
 */
export async function insertSubject(
  tx: Queries,
  {
    name,
    emailAddress,
    defaultLanguage,
    isProven = false,
  }: Pick<Subject, 'name' | 'emailAddress' | 'defaultLanguage'> & { isProven?: boolean },
): Promise<Subject | undefined> {
  const inserted = await tx.maybeOne<Subject>(sql`
    INSERT INTO subjects AS s (id, name, email_address, default_language, created_at, modified_at)
    VALUES (${newUuid()}, ${name}, ${emailAddress}, ${defaultLanguage}, accord_now(), accord_now())
    ON CONFLICT (name) DO UPDATE SET email_address = excluded.email_address,
                                     default_language = excluded.default_language,
                                     modified_at = excluded.modified_at, unproven = false
     WHERE s.unproven
    RETURNING ${columns}`);
  if (inserted) await replaceContact(tx, name, { address: emailAddress, isProven });
  return inserted;
}

export async function readSubject(db: Queries, name: string): Promise<Subject | undefined> {
  return db.maybeOne<Subject>(sql`SELECT ${columns} FROM subjects AS s WHERE s.name = ${name}`);
}

export async function readSubjectById(db: Queries, id: string): Promise<Subject | undefined> {
  return db.maybeOne<Subject>(sql`SELECT ${columns} FROM subjects AS s WHERE s.id = ${id}`);
}

/** The id by which the audit log names a person. @param name of the subject. */
export async function findSubjectId(db: Queries, name: string): Promise<string | undefined> {
  const found = await db.maybeOne<{ id: string }>(sql`SELECT s.id FROM subjects AS s WHERE s.name = ${name}`);
  return found?.id;
}

/** {@link findSubjectId} for the subject of a transaction. */
export async function findSubjectIdOf(db: Queries, transaction: string): Promise<string | undefined> {
  const found = await db.maybeOne<{ id: string }>(sql`
    SELECT s.id FROM transactions AS t JOIN subjects AS s ON s.name = t.subject WHERE t.id = ${transaction}`);
  return found?.id;
}

/** Null clears a member, undefined keeps it. The name never changes, because records refer to it. */
export async function updateSubject(
  db: Queries,
  id: string,
  { emailAddress, defaultLanguage }: { emailAddress?: string | null; defaultLanguage?: string | null },
): Promise<Subject | undefined> {
  return db.maybeOne<Subject>(sql`
    UPDATE subjects AS s
       SET email_address = CASE WHEN ${emailAddress !== undefined} THEN ${emailAddress ?? null}::text
                                ELSE s.email_address END,
           default_language = CASE WHEN ${defaultLanguage !== undefined} THEN ${defaultLanguage ?? null}::text
                                   ELSE s.default_language END,
           modified_at = accord_now(), unproven = false
     WHERE s.id = ${id} RETURNING ${columns}`);
}

/** The subject of a name, stored first if it is new. */
export async function ensureSubject(db: Queries, name: string): Promise<Subject> {
  const given = { name, emailAddress: null, defaultLanguage: null };
  return (
    (await readSubject(db, name)) ??
    (await insertSubject(db, given)) ??
    (await readSubject(db, name)) ??
    gone()
  );
}

function gone(): never {
  throw fail('unavailable', 'The subject is being erased. Please try again.', {
    headers: { 'Retry-After': '1' },
  });
}

/**
 * Deletes an erased subject. @param hasLater whether there are later transactions of the name, for which a
 * new subject is stored. Its statements keep their positions, so it has the position of the erased one.
 */
export async function replaceSubject(tx: Queries, name: string, hasLater: boolean): Promise<void> {
  const gone = await tx.maybeOne<{ position: number }>(sql`
    DELETE FROM subjects AS s WHERE s.name = ${name} RETURNING s.position`);
  if (!hasLater) return;
  await insertSubject(tx, { name, emailAddress: null, defaultLanguage: null });
  await tx.query(sql`UPDATE subjects AS s SET position = ${gone?.position ?? 0} WHERE s.name = ${name}`);
}

interface SubjectFilter {
  /** A part of the name. */
  name?: string;
  /** A whole e-mail address or telephone number, which may also be the name. */
  contact?: string;
  ids?: readonly string[];
  /** A whole name. */
  only?: string;
}

/** A page of subjects, newest first. */
export async function listSubjects(
  db: Queries,
  { name, contact, ids, only, after, limit }: SubjectFilter & { after?: Position; limit: number },
): Promise<(Subject & { position: string })[]> {
  const conditions = [
    ...(name === undefined ? [] : [sql`strpos(lower(s.name), lower(${name})) > 0`]),
    ...(contact === undefined
      ? []
      : [
          sql`s.name IN (SELECT c.subject FROM contacts AS c
                          WHERE c.digest = ${contactDigest(sql`${contact}::text`)}
                          UNION ALL SELECT ${contact}::text)`,
        ]),
    ...(ids === undefined ? [] : [sql`s.id = ANY(${ids}::uuid[])`]),
    ...(only === undefined ? [] : [sql`s.name = ${only}`]),
    ...(after ? [sql`(s.created_at, s.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`] : []),
  ];
  const where = conditions.length > 0 ? sql`WHERE ${join(conditions, ' AND ')}` : sql``;
  return db.query(sql`
    SELECT ${columns}, s.created_at::text AS position FROM subjects AS s ${where}
     ORDER BY s.created_at DESC, s.id DESC LIMIT ${limit}`);
}

const personTarget = /^subject\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

/** SQL: of a person in the audit log also the transactions, in which the person is asked and answers. */
export function targetsOfPerson(target: string): Statement | undefined {
  const id = personTarget.exec(target)?.[1];
  return id === undefined
    ? undefined
    : sql`SELECT 'transaction/' || t.id FROM transactions AS t JOIN subjects AS s ON s.name = t.subject WHERE s.id = ${id}::uuid`;
}
