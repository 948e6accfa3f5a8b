import { recordAction } from '#lib/audit/record-action.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { createJwsVerifier } from '#lib/evidence/verify-jws.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import type { SubjectDigest } from '../erasure/erasure.ts';
import { readClock } from '../standing/answers-store.ts';
import { readNow } from '../transaction/store.ts';
import { creatorOf } from '../transaction/transaction.ts';
import { checkRows } from './check-rows.ts';
import { composeTransactions } from './compose-transactions.ts';
import { type CheckedRow, type Decided, decideRows } from './decide-rows.ts';
import { leaveOutErased, leaveOutKnown, readErased } from './leave-out-rows.ts';
import { proveRows } from './prove-rows.ts';
import type { ReadRows } from './read-rows.ts';
import { readReceiptKeys } from './receipt-evidence.ts';
import type { NumberedRow, RowFaults } from './row.ts';
import { lockImports, lockPersons, readQuestions, storeImport } from './store.ts';

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
  errors: RowFaults;
}

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
  const errors: RowFaults = [];
  const rows = read.flatMap((row, index): NumberedRow[] => {
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
  const findErased = (tx: Queries) => readErased(dependencies.subjectDigest, tx, proven);
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
