import { commandLine, recordAction } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import { lockSubject } from '../person/positions-sql.ts';
import type { SubjectDigest } from './erasure.ts';
import { hasSentBefore, type RepeatableErasure, repeatErasure, storeEnded } from './store.ts';

/**
 * Repeats erasures after the restore of an older backup (docs/erasure.md, "Backups"). The services erase as
 * soon as they run. Idempotent: a person who has come back since an erasure is left.
 * @param lines NDJSON of `GET /erasures`. @returns how many erasures there are, and of how many there is
 * something to erase.
 * @throws StartupError that names the first line that is not one of them; then nothing is changed.
 */
export async function reapplyErasures(
  db: Database,
  digests: SubjectDigest,
  lines: string,
): Promise<{ read: number; found: number }> {
  const erasures = readLines(lines).toSorted(byStart);
  const subjects = await findSubjects(db, digests, erasures);
  const latest = new Map(erasures.map((erasure) => [dataOf(erasure, subjects), erasure.id]));
  let found = 0;
  for (const erasure of erasures)
    await db.withTransaction(async (tx) => {
      const subject = subjects.get(erasure.digest);
      if (subject !== undefined) await lockSubject(tx, subject.name);
      // Later erasures of the same data cover what earlier ones did.
      const isLatest = latest.get(dataOf(erasure, subjects)) === erasure.id;
      const isLeft = subject !== undefined && isLatest && (await isLeftToErase(tx, erasure, subject));
      if (!isLeft) return storeEnded(tx, erasure, subject !== undefined && !isLatest);
      found += 1;
      const target = `subject/${erasure.subject}`;
      if (await repeatErasure(tx, erasure, subject.name))
        await recordAction(tx, { action: 'erasure.started', target }, commandLine);
    });
  return { read: erasures.length, found };
}

function byStart(a: RepeatableErasure, b: RepeatableErasure): number {
  // Dates have milliseconds; texts of one form also compare by microseconds.
  return Date.parse(a.started) - Date.parse(b.started) || (a.started < b.started ? -1 : 1);
}

/** Which data an erasure covers: all of a subject, or what a peer has sent. */
function dataOf({ digest, peer }: RepeatableErasure, subjects: ReadonlyMap<string, FoundSubject>): string {
  return JSON.stringify([subjects.get(digest)?.name ?? digest, peer]);
}

/** Whether data are left that were there when an erasure started. */
async function isLeftToErase(
  tx: Queries,
  { peer, started }: RepeatableErasure,
  { name: subject, created }: FoundSubject,
): Promise<boolean> {
  if (peer !== undefined) return hasSentBefore(tx, { subject, peer, before: started });
  return created <= new Date(started);
}

function readLines(lines: string): RepeatableErasure[] {
  return lines.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const erasure = readLine(line);
    if (!erasure)
      throw new StartupError(`Line ${index + 1} is not a line of GET /erasures; nothing was changed.`);
    return [erasure];
  });
}

function readLine(line: string): RepeatableErasure | undefined {
  try {
    const given = JSON.parse(line) as RepeatableErasure;
    const isValid =
      /^[1-9A-HJ-NP-Za-km-z]{22}$/.test(given.id) &&
      uuidPattern.test(given.subject) &&
      /^[A-Za-z0-9_-]{43}$/.test(given.digest) &&
      (given.peer === undefined || URL.canParse(given.peer)) &&
      [given.created, given.started].every((time) => !Number.isNaN(Date.parse(time)));
    return isValid ? given : undefined;
  } catch {
    return undefined;
  }
}

/** A subject that has the digest of an erasure. */
interface FoundSubject {
  name: string;
  created: Date;
}

const namesPerRead = 10_000;

/** The subjects that have the digest of an erasure, by digest. */
async function findSubjects(
  db: Database,
  digests: SubjectDigest,
  erasures: readonly RepeatableErasure[],
): Promise<Map<string, FoundSubject>> {
  const wanted = new Set(erasures.map(({ digest }) => digest));
  const found = new Map<string, FoundSubject>();
  for (let after = ''; ; ) {
    const rows = await db.query<FoundSubject>(sql`
      SELECT s.name, s.created_at AS created FROM subjects AS s
       WHERE s.name > ${after} ORDER BY s.name LIMIT ${namesPerRead}`);
    for (const subject of rows)
      for (const digest of digests.all(subject.name).map((each) => each.toString('base64url')))
        if (wanted.has(digest)) found.set(digest, subject);
    const last = rows.at(-1);
    if (!last || rows.length < namesPerRead) return found;
    after = last.name;
  }
}
