import { setImmediate as nextTurn } from 'node:timers/promises';
import { recordAction } from '#lib/audit/record-action.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { ImportedCheck } from '#lib/contracts/imported-answers.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { createJwsVerifier, type VerifyJws } from '#lib/evidence/verify-jws.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { expiryOf } from '#lib/text/answer-validity.ts';
import type { SubjectDigest } from '../erasure/erasure.ts';
import { composeItem, shownTexts } from '../receipts/receipt.ts';
import { readClock } from '../standing/answers-store.ts';
import { readNow } from '../transaction/store.ts';
import { creatorOf } from '../transaction/transaction.ts';
import { sha256Canonical } from '../transaction/values.ts';
import { composeTransactions } from './compose-transactions.ts';
import { type CheckedRow, type Decided, decideRows } from './decide-rows.ts';
import type { ReadRows } from './read-rows.ts';
import { readReceiptKeys, receiptFault } from './receipt-evidence.ts';
import type { ImportRow } from './row.ts';
import {
  lockImports,
  lockPersons,
  readErasedDigests,
  readQuestions,
  readTakenOver,
  sourceName,
  storeImport,
} from './store.ts';

export interface ImportDependencies {
  db: Database;
  forms: Pick<FormsOperations, 'checkImported'>;
  instance: { name: string; baseUrl: string };
  subjectDigest: SubjectDigest;
  /** EXPIRY_NOTICE */
  expiryNoticeMs: number;
  wake: () => void;
}

/** What became of the rows of a request (openapi.yaml, `ImportResult`). */
export interface ImportResult {
  batch: string;
  rows: number;
  created: number;
  unchanged: number;
  rejected: number;
  errors: ({ row: number } & Fault)[];
}

type Numbered = ImportRow & { row: number };
type Errors = ImportResult['errors'];

/** Rows whose answers and receipts are checked before other requests have their turn. */
const rowsPerTurn = 50;

/**
 * Takes over answers that were given in another system: the good rows in one COMMIT (docs/moving.md).
 * @param given.isDryRun nothing is stored, and no person is locked.
 * @throws Failure `unavailable` while forms or the database cannot be reached.
 */
export async function importRows(
  dependencies: ImportDependencies,
  { keys, rows: read }: ReadRows,
  { principal, isDryRun }: { principal: Principal; isDryRun: boolean },
): Promise<ImportResult> {
  const { db, instance, wake } = dependencies;
  const errors: Errors = [];
  const rows = read.flatMap((row, index): Numbered[] => {
    if (!Array.isArray(row)) return [{ ...row, row: index + 1 }];
    for (const fault of row) errors.push({ row: index + 1, ...fault });
    return [];
  });
  const { checked, texts } = await checkRows(dependencies, rows, errors);
  const receiptKeys = readReceiptKeys(keys);
  const verify = createJwsVerifier(receiptKeys, () => {});
  const { proven, digests } = await proveRows(checked, verify, errors);
  const batch = randomId();
  const take = async (tx: Queries, kept: CheckedRow[]): Promise<Decided & { unchanged: number }> => {
    const { fresh, unchanged } = await leaveOutKnown(tx, kept, { digests, errors });
    const now = isDryRun ? await readNow(tx) : await readClock(tx);
    const decided = decideRows(fresh, await readQuestions(tx, fresh), now);
    for (const { row } of decided.refusedHere) errors.push({ row, ...withdrawnHere });
    if (!isDryRun && decided.records.length > 0)
      await storeImport(
        tx,
        {
          id: batch,
          by: { name: principal.name, account: creatorOf(principal) },
          now,
          source: instance.baseUrl,
          texts,
          transactions: composeTransactions(decided.records, { now, leadMs: dependencies.expiryNoticeMs }),
          keys: new Map([...receiptKeys].map(([kid, { jwk }]) => [kid, jwk])),
          digests: new Map(decided.records.map((record) => [record.id, digests.get(record.row) as Buffer])),
        },
        decided,
      );
    if (!isDryRun)
      await recordAction(tx, {
        action: 'records.imported',
        target: `import/${batch}`,
        outcome: String(decided.records.length),
      });
    return { ...decided, unchanged };
  };
  const findErased = (tx: Queries) => readErased(dependencies, tx, proven);
  const { records, unchanged } = isDryRun
    ? await take(db, leaveOutErased(proven, await findErased(db), errors))
    : await db.withTransaction(async (tx) => {
        await lockImports(tx);
        // Of a person who was erased not even the name is stored again.
        const erased = await findErased(tx);
        const kept = leaveOutErased(proven, erased, errors);
        if (kept.length > 0) await lockPersons(tx, kept);
        if ((await findErased(tx)).size > erased.size)
          throw fail('unavailable', 'A person is being erased. Please try again.');
        return take(tx, kept);
      });
  if (!isDryRun) wake();
  const rejected = new Set(errors.map(({ row }) => row)).size;
  errors.sort((a, b) => a.row - b.row);
  return { batch, rows: read.length, created: records.length, unchanged, rejected, errors };
}

const withdrawnHere = {
  pointer: '/answer',
  code: 'withdrawn-here',
  detail: 'the person has refused or withdrawn this here before; only the person can consent again',
};

/** Compares the rows with the versions that they answer. */
async function checkRows(
  { forms, instance }: ImportDependencies,
  rows: readonly Numbered[],
  errors: Errors,
): Promise<{ checked: CheckedRow[]; texts: Map<string, object> }> {
  const answers = createIndex<{ key: string; serial: string; answer: string[] }>();
  const informations = createIndex<ImportRow['information']>();
  const places = rows.map(({ key, serial, answer, information }) => ({
    answer: answers.place({ key, serial, answer }),
    information: informations.place(information),
  }));
  const found = await forms.checkImported({ answers: answers.values, informations: informations.values });
  const texts = new Map<string, object>();
  const checked: CheckedRow[] = [];
  rows.forEach((row, index) => {
    const { answer, information } = places[index] as (typeof places)[number];
    const check = found.answers[answer] as ImportedCheck;
    const info = found.informations[information];
    if ('fault' in check) {
      const pointer = check.fault === 'unknown-element' ? '/element' : '/answer';
      errors.push({ row: row.row, pointer, code: check.fault, detail: check.detail });
    } else if (!info) {
      const detail = 'is no information that was activated here, and there is no default one';
      errors.push({ row: row.row, pointer: '/information', code: 'unknown-information', detail });
    } else {
      const { identifier, type, value, positions, options, content } = check;
      if (!texts.has(identifier)) {
        const item = composeItem({ identifier, content }, type, options);
        texts.set(identifier, { ...item, owner: instance.name });
      }
      if (!texts.has(info.identifier)) texts.set(info.identifier, shownTexts(info));
      const { expiresAt = expiryOf({ identifier, texts: content }, undefined, row.givenAt) } = row;
      const known = { identifier, type, value, positions, expiresAt };
      const shown = { infoKey: info.key, infoSerial: info.serial };
      checked.push({ ...row, ...known, ...shown, isVerified: false });
    }
  });
  return { checked, texts };
}

/** Values in the order in which they were first seen. */
function createIndex<Value>() {
  const places = new Map<string, number>();
  const values: Value[] = [];
  return {
    values,
    place(value: Value): number {
      const name = JSON.stringify(value);
      const known = places.get(name);
      if (known !== undefined) return known;
      places.set(name, values.length);
      return values.push(value) - 1;
    },
  };
}

/** Checks the receipts among the evidence. @returns also the digest of each row, by its place. */
async function proveRows(
  rows: readonly CheckedRow[],
  verify: VerifyJws,
  errors: Errors,
): Promise<{ proven: CheckedRow[]; digests: Map<number, Buffer> }> {
  const proven: CheckedRow[] = [];
  const digests = new Map<number, Buffer>();
  for (const [index, row] of rows.entries()) {
    if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
    const isReceipt = row.evidence?.kind === 'RECEIPT';
    const fault = isReceipt ? receiptFault(row, row.identifier, verify) : undefined;
    if (fault) errors.push({ row: row.row, ...fault });
    else {
      proven.push({ ...row, isVerified: isReceipt });
      digests.set(row.row, digestOf(row));
    }
  }
  return { proven, digests };
}

/** The persons of the rows whose data were erased. */
async function readErased(
  { subjectDigest }: ImportDependencies,
  tx: Queries,
  rows: readonly CheckedRow[],
): Promise<Set<string>> {
  const subjects = [...new Set(rows.map(({ subject }) => subject))];
  const digests = subjects.map((subject) => subjectDigest.all(subject));
  const erased = await readErasedDigests(tx, digests.flat());
  return new Set(
    subjects.filter((_, place) => digests[place]?.some((each) => erased.has(each.toString('hex')))),
  );
}

function leaveOutErased(rows: CheckedRow[], erased: ReadonlySet<string>, errors: Errors): CheckedRow[] {
  return rows.filter(({ row, subject }) => {
    if (!erased.has(subject)) return true;
    errors.push({ row, pointer: '/subject', code: 'erased', detail: 'was erased here' });
    return false;
  });
}

/** Leaves out the rows that were taken over before. */
async function leaveOutKnown(
  tx: Queries,
  rows: readonly CheckedRow[],
  { digests, errors }: { digests: ReadonlyMap<number, Buffer>; errors: Errors },
): Promise<{ fresh: CheckedRow[]; unchanged: number }> {
  const known = await readTakenOver(tx, rows);
  const fresh: CheckedRow[] = [];
  let unchanged = 0;
  for (const row of rows) {
    const digest = digests.get(row.row) as Buffer;
    const before = known.get(sourceName(row));
    if (before?.equals(digest)) unchanged += 1;
    else if (before)
      errors.push({
        row: row.row,
        pointer: '/sourceId',
        code: 'conflict',
        detail: 'was taken over with another content',
      });
    else {
      known.set(sourceName(row), digest);
      fresh.push(row);
    }
  }
  return { fresh, unchanged };
}

/** What makes two rows the same. */
function digestOf(row: CheckedRow): Buffer {
  const { subject, object, key, serial, answer, givenAt, expiresAt, author, comment, evidence } = row;
  const { infoKey, infoSerial } = row;
  const [given, expires] = [givenAt.toISOString(), expiresAt?.toISOString() ?? null];
  const said = { subject, object, key, serial, answer, given, expires };
  return sha256Canonical({ ...said, author, comment, evidence, infoKey, infoSerial });
}
