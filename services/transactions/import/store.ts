import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Question } from '../standing/in-force.ts';
import { type StoredStatement, statement, toStatement } from '../standing/store.ts';
import { insertEvents, supersededEvents } from '../transaction/events.ts';
import type { ImportedTransaction } from './compose-transactions.ts';
import { type Decided, type EndedBefore, questionName, type TakenOver } from './decide-rows.ts';
import type { ImportRow } from './row.ts';

/** The rows of these systems that were taken over before: the digest of each, by source and id. */
export async function readTakenOver(
  db: Queries,
  rows: readonly Pick<ImportRow, 'source' | 'sourceId'>[],
): Promise<Map<string, Buffer>> {
  const found = await db.query<{ source: string; sourceId: string; digest: Buffer }>(sql`
    SELECT a.source, a.source_id AS "sourceId", a.digest
      FROM unnest(${rows.map(({ source }) => source)}::text[], ${rows.map(({ sourceId }) => sourceId)}::text[])
             AS g (source, source_id)
      JOIN imported_answers AS a ON a.source = g.source AND a.source_id = g.source_id`);
  return new Map(found.map((each) => [sourceName(each), each.digest]));
}

export function sourceName({ source, sourceId }: { source: string; sourceId: string }): string {
  return JSON.stringify([source, sourceId]);
}

/** The digests among these that an erasure of all data of a person has. */
export async function readErasedDigests(db: Queries, digests: readonly Buffer[]): Promise<Set<string>> {
  const found = await db.query<{ digest: Buffer }>(sql`
    SELECT e.digest FROM erasures AS e
     WHERE e.digest = ANY(${digests}::bytea[]) AND e.peer IS NULL AND e.started_at IS NOT NULL`);
  return new Set(found.map(({ digest }) => digest.toString('hex')));
}

/** One import is stored at a time, so that the same row is never taken over twice. */
export async function lockImports(tx: Queries): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('accord import'))`);
}

/** Stores the persons that are new, and locks all of them, in the order of their names. */
export async function lockPersons(tx: Queries, rows: readonly Pick<ImportRow, 'subject'>[]): Promise<void> {
  const sorted = [...new Set(rows.map(({ subject }) => subject))].sort();
  const persons = sorted.map((name) => ({ id: newUuid(), name }));
  await tx.query(sql`
    INSERT INTO subjects AS s (id, name, created_at, modified_at)
    SELECT g.id, g.name, accord_now(), accord_now()
      FROM jsonb_to_recordset(${JSON.stringify(persons)}::jsonb) AS g (id uuid, name text)
     ORDER BY g.name
    ON CONFLICT (name) DO UPDATE SET unproven = false WHERE s.unproven`);
  await tx.query(sql`
    SELECT FROM subjects AS s WHERE s.name = ANY(${sorted}::text[]) ORDER BY s.name FOR NO KEY UPDATE`);
}

type Asked = Pick<ImportRow, 'subject' | 'object' | 'key' | 'givenAt'>;

/**
 * What is known of the questions of rows: the statements in force, and all that were committed at or after
 * the time of a row. Each is a few index look-ups.
 */
export async function readQuestions(db: Queries, rows: readonly Asked[]): Promise<Map<string, Question>> {
  const asked = new Map<string, Asked>();
  for (const row of rows) {
    const known = asked.get(questionName(row));
    if (!known || row.givenAt < known.givenAt) asked.set(questionName(row), row);
  }
  const each = [...asked.values()];
  const ofQuestion = sql`
    r.subject = q.subject AND r.object = q.object AND r.key = q.key AND r.state = 'COMMITTED'`;
  const found = await db.query<
    Pick<Asked, 'subject' | 'object' | 'key'> & { statement: StoredStatement }
  >(sql`
    SELECT q.subject, q.object, q.key, ${statement} AS statement
      FROM unnest(${each.map(({ subject }) => subject)}::text[], ${each.map(({ object }) => object)}::text[],
                  ${each.map(({ key }) => key)}::text[],
                  ${each.map(({ givenAt }) => givenAt.toISOString())}::timestamptz[])
             AS q (subject, object, key, given_at)
     CROSS JOIN LATERAL (
       SELECT r.* FROM records AS r
        WHERE ${ofQuestion} AND r.from_position IS NOT NULL AND r.until_position IS NULL
        UNION ALL
       SELECT r.* FROM records AS r
        WHERE ${ofQuestion} AND r.until_position IS NOT NULL AND r.until_at > q.given_at
          AND r.committed_at >= q.given_at
        UNION ALL
       SELECT r.* FROM records AS r
        WHERE ${ofQuestion} AND r.from_position IS NULL AND r.committed_at >= q.given_at) AS r`);
  const questions = new Map<string, Question>();
  for (const [name, group] of Map.groupBy(found, questionName))
    questions.set(name, { statements: group.map((one) => toStatement(one.statement)), orderedAt: null });
  return questions;
}

/** What {@link storeImport} stores beside the decided rows. */
export interface ImportBatch {
  id: string;
  /** Who takes them over. */
  by: { name: string; account: string };
  now: Date;
  /** BASE_URL */
  source: string;
  /** Items of a receipt by identifier: elements and informations. */
  texts: ReadonlyMap<string, object>;
  transactions: readonly ImportedTransaction[];
  /** Public keys that verify receipts, by `kid`. */
  keys: ReadonlyMap<string, object>;
  /** SHA-256 of each row, by the id of its record. */
  digests: ReadonlyMap<string, Buffer>;
}

/** Stores rows in one COMMIT: a statement for each table. The persons are locked. */
export async function storeImport(tx: Queries, batch: ImportBatch, decided: Decided): Promise<void> {
  const { records, ended } = decided;
  await insertTransactions(tx, batch);
  const { first } = await takePositions(tx, records);
  await endBefore(tx, batch, ended, first);
  await insertRecords(tx, batch, records, first);
  await insertSources(tx, batch, records);
  await tellBatch(tx, batch, records.length);
}

async function insertTransactions(tx: Queries, batch: ImportBatch): Promise<void> {
  const { by, now, transactions, texts } = batch;
  const rows = transactions.map(({ evidence: _evidence, ...rest }) => rest);
  await tx.query(sql`
    WITH t AS (
      INSERT INTO transactions (id, subject, kind, state, version, context, layout, author, created_by,
                                created_at, changed_at, expires_at, notice_at, valid_until)
      SELECT g.id, g.subject, 'IMPORT', 'COMMITTED', 1, g.context, g.layout, ${by.name}, ${by.account},
             ${now}::timestamptz, ${now}::timestamptz, ${now}::timestamptz, g."noticeAt", g."validUntil"
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          AS g (id text, subject text, context jsonb, layout jsonb, "noticeAt" timestamptz, "validUntil" timestamptz)
      RETURNING id, changed_at
    )
    INSERT INTO transaction_history (transaction, version, state, at)
    SELECT t.id, 1, 'COMMITTED', t.changed_at FROM t`);
  await insertEvidence(tx, batch);
  const items = [...texts].map(([identifier, item]) => ({ identifier, item }));
  await tx.query(sql`
    INSERT INTO imported_texts (identifier, item)
    SELECT g.identifier, g.item FROM jsonb_to_recordset(${JSON.stringify(items)}::jsonb)
        AS g (identifier text, item jsonb)
     ORDER BY g.identifier
    ON CONFLICT (identifier) DO NOTHING`);
}

async function insertEvidence(tx: Queries, { transactions, keys }: ImportBatch): Promise<void> {
  const evidence = transactions.flatMap(({ id, evidence: proof }) => (proof ? [{ id, ...proof }] : []));
  if (evidence.length === 0) return;
  const used = new Set(evidence.map(({ kid }) => kid));
  const signers = [...keys].flatMap(([kid, jwk]) => (used.has(kid) ? [{ kid, jwk }] : []));
  await tx.query(sql`
    INSERT INTO import_keys (kid, jwk)
    SELECT g.kid, g.jwk FROM jsonb_to_recordset(${JSON.stringify(signers)}::jsonb) AS g (kid text, jwk jsonb)
    ON CONFLICT (kid) DO NOTHING`);
  await tx.query(sql`
    INSERT INTO import_evidence (transaction, kind, value, verified, kid)
    SELECT g.id, g.kind, g.value, g.verified, g.kid FROM jsonb_to_recordset(${JSON.stringify(evidence)}::jsonb)
        AS g (id text, kind text, value text, verified boolean, kid text)`);
}

/** Takes a position for each record in its place, and moves the persons on. @returns the first one. */
async function takePositions(tx: Queries, records: readonly TakenOver[]): Promise<{ first: number }> {
  // Other statements take positions meanwhile: theirs are of other persons.
  const { last } = await tx.one<{ last: number }>(sql`
    SELECT max(nextval('positions')) AS last FROM generate_series(1, ${records.length}::int)`);
  const first = last - records.length + 1;
  const latest = new Map(records.map(({ subject, place }) => [subject, first + place]));
  await tx.query(sql`
    UPDATE subjects AS s SET position = g.position
      FROM unnest(${[...latest.keys()]}::text[], ${[...latest.values()]}::bigint[]) AS g (name, position)
     WHERE s.name = g.name`);
  return { first };
}

/** Ends the answers that were in force before, and tells who was told of them. */
async function endBefore(
  tx: Queries,
  { now, source }: ImportBatch,
  ended: readonly EndedBefore[],
  first: number,
): Promise<void> {
  if (ended.length === 0) return;
  const rows = ended.map(({ place, ...each }) => ({ ...each, position: first + place }));
  await tx.query(sql`
    WITH given AS (
      SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
          AS g (id uuid, by uuid, position bigint, "isWithdrawn" boolean, key text, transaction text)
    ), ended AS (
      UPDATE records AS r SET until_position = g.position, until_at = ${now}, ended_by = g.by
        FROM given AS g WHERE r.id = g.id AND r.id = ANY(${ended.map(({ id }) => id)}::uuid[])
      RETURNING r.id, r.transaction, g.by, ${now}::timestamptz AS at
    ), superseded AS (${supersededEvents(sql`ended`, source)}
    ), withdrawn AS (
      SELECT w.transaction AS id,
             jsonb_agg(jsonb_build_object('record', w.id, 'element', w.key) ORDER BY w.key) AS withdraws
        FROM (SELECT g.*, (row_number() OVER (PARTITION BY g.transaction ORDER BY g.key) - 1) / 50 AS piece
                FROM given AS g WHERE g."isWithdrawn") AS w
       GROUP BY w.transaction, w.piece
    )
    ${insertEvents(
      {
        from: sql`withdrawn`,
        topic: 'accord.consents',
        key: sql`s.id`,
        type: sql`'io.accord.consent.withdrawn.v1'::text`,
        time: sql`${now}::timestamptz`,
        data: sql`jsonb_build_object('transaction', s.id, 'state', 'COMMITTED', 'version', 1, 'withdraws', s.withdraws)`,
      },
      source,
    )}`);
}

async function insertRecords(
  tx: Queries,
  { now }: ImportBatch,
  records: readonly TakenOver[],
  first: number,
): Promise<void> {
  const rows = records.map((record) => {
    const { evidence: _kept, answer: _given, source: _system, place, until, ...rest } = record;
    const position = first + place;
    return {
      ...rest,
      author: record.author ?? record.subject,
      position,
      from: record.isInForce ? position : null,
      until: until === null ? null : first + until,
    };
  });
  await tx.query(sql`
    INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value,
                         positions, state, origin, author, comment, created_at, committed_at, expires_at,
                         withdraws, position, from_position, from_at, until_position, until_at, ended_by)
    SELECT g.id, g.transaction, g.subject, g.object, g.key, g.type, g.serial, g."infoKey", g."infoSerial",
           g.value, g.positions, 'COMMITTED', 'IMPORTED', g.author, g.comment, g."givenAt", g."givenAt",
           g."expiresAt", g.withdraws, g.position, g."from",
           CASE WHEN g."from" IS NOT NULL THEN ${now}::timestamptz END, g.until,
           CASE WHEN g.until IS NOT NULL THEN ${now}::timestamptz END, g."endedBy"
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS g (id uuid, transaction text, subject text, object text, key text, type text, serial text,
              "infoKey" text, "infoSerial" text, value text[], positions integer[], author text, comment text,
              "givenAt" timestamptz, "expiresAt" timestamptz, withdraws uuid, position bigint, "from" bigint,
              until bigint, "endedBy" uuid)`);
}

async function insertSources(
  tx: Queries,
  { digests }: ImportBatch,
  records: readonly TakenOver[],
): Promise<void> {
  await tx.query(sql`
    INSERT INTO imported_answers (source, source_id, record, digest)
    SELECT * FROM unnest(${records.map(({ source }) => source)}::text[],
                         ${records.map(({ sourceId }) => sourceId)}::text[],
                         ${records.map(({ id }) => id)}::uuid[],
                         ${records.map(({ id }) => digests.get(id) as Buffer)}::bytea[])`);
}

async function tellBatch(tx: Queries, { id, now, source }: ImportBatch, created: number): Promise<void> {
  await tx.query(
    insertEvents(
      {
        from: sql`(SELECT ${id}::text AS id)`,
        topic: 'accord.consents',
        key: sql`s.id`,
        type: sql`'io.accord.records.imported.v1'::text`,
        time: sql`${now}::timestamptz`,
        data: sql`jsonb_build_object('batch', s.id, 'created', ${created}::int)`,
      },
      source,
    ),
  );
}
