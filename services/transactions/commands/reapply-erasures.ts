import { commandLine, recordAction } from '#lib/audit/record-action.ts';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import type { SubjectDigest } from '../domain/erasure.ts';
import { type RepeatableErasure, repeatErasure } from '../queries/erasures.ts';
import { lockSubject } from '../queries/withdrawals.ts';

/**
 * Repeats erasures after the restore of an older backup (docs/erasure.md, "Backups"). The services erase as
 * soon as they run. Idempotent.
 * @param lines NDJSON of `GET /erasures`. @returns how many erasures there are, and of how many the subject
 * was found.
 * @throws StartupError that names the first line that is not one of them; then nothing is changed.
 */
export async function reapplyErasures(
  db: Database,
  digests: SubjectDigest,
  lines: string,
): Promise<{ read: number; found: number }> {
  const erasures = readLines(lines);
  const names = await findSubjects(db, digests, erasures);
  for (const erasure of erasures)
    await db.withTransaction(async (tx) => {
      const name = names.get(erasure.digest);
      if (name !== undefined) await lockSubject(tx, name);
      await repeatErasure(tx, erasure, name);
      const target = `subject/${erasure.subject}`;
      if (name !== undefined) await recordAction(tx, { action: 'erasure.started', target }, commandLine);
    });
  return { read: erasures.length, found: names.size };
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

const namesPerRead = 10_000;

/** The subjects that have the digest of an erasure and were there when it started, by digest. */
async function findSubjects(
  db: Database,
  digests: SubjectDigest,
  erasures: readonly RepeatableErasure[],
): Promise<Map<string, string>> {
  const wanted = new Set(erasures.map(({ digest }) => digest));
  const found = new Map<string, string>();
  for (let after = ''; ; ) {
    const rows = await db.query<{ name: string }>(sql`
      SELECT s.name FROM subjects AS s WHERE s.name > ${after} ORDER BY s.name LIMIT ${namesPerRead}`);
    for (const { name } of rows)
      for (const digest of digests.all(name).map((each) => each.toString('base64url')))
        if (wanted.has(digest)) found.set(digest, name);
    const last = rows.at(-1);
    if (!last || rows.length < namesPerRead) return found;
    after = last.name;
  }
}
