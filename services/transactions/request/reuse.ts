import { consentNotices } from '#lib/contracts/element-rules.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import { isRefusal, recordStatus, type StatusFacts, validRecords } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import type { Queries } from '#lib/db/database.ts';
import { usualValidity } from '#lib/text/answer-validity.ts';
import { addDuration } from '#lib/text/duration.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { areInForce } from '../sent-parts/store.ts';
import { readActiveVersions } from '../standing/active-versions.ts';
import { readEarlier } from '../standing/earlier-store.ts';
import { readStatusFacts } from '../standing/records-store.ts';
import { insertTransaction } from '../transaction/store.ts';
import {
  asksChanged,
  isFinal,
  type NewTransaction,
  type ReadTransaction,
  stateAt,
  type Transaction,
} from '../transaction/transaction.ts';
import { ownKeys } from '../withdrawal/withdrawal.ts';
import { lockClaim, readClaimed, repointClaim, takeValidity } from './claims-store.ts';

/** What {@link isReusable} needs to know of the elements. */
export interface ReuseFacts {
  active: ActiveVersions;
  /** Keys of notices that rest on consent, if the subject has refused some element. */
  notices: ReadonlySet<string>;
}

/**
 * Reads the {@link ReuseFacts}. With `ask: CHANGED` earlier answers count, which may have been given under
 * another information than that of the layout.
 * @param resolved the ACTIVE versions of the layout.
 */
export async function readReuseFacts(
  { db, forms }: { db: Queries; forms: FormsOperations },
  transaction: Pick<Transaction, 'context' | 'layout' | 'parent'>,
  resolved: ActiveVersions,
): Promise<ReuseFacts> {
  if (!asksChanged(transaction)) return { active: resolved, notices: new Set() };
  const earlier = await readOwnAnswers(db, transaction);
  const active = { ...resolved, ...(await readActiveVersions(forms, earlier)) };
  if (!earlier.some(isRefusal)) return { active, notices: new Set() };
  const { layout } = transaction;
  const { elements } = await forms.describeForm({ layout, languages: [] });
  return { active, notices: consentNotices(elements) };
}

/** Locks the claim, so that one of several concurrent equal requests creates the transaction for all. */
export async function reuseOrCreate(
  tx: Queries,
  { digest, transaction, source }: { digest: Buffer; transaction: NewTransaction; source: string },
  isUsable: (claimed: ReadTransaction) => Promise<boolean>,
): Promise<ReadTransaction & { created: boolean }> {
  await lockSubject(tx, transaction.context.subject);
  await lockClaim(tx, digest, transaction.id);
  const claimed = await readClaimed(tx, digest);
  if (claimed && (await isUsable(claimed)))
    return { ...(await takeValidity(tx, claimed, transaction.context)), created: false };
  const created = await insertTransaction(tx, transaction, source);
  await repointClaim(tx, digest, transaction.id);
  return { ...created, created: true };
}

/**
 * Whether a transaction is open, or COMMITTED with at least one record and all records VALID. With
 * `ask: CHANGED`: open, or COMMITTED with at least one own element, and each own element has a VALID answer
 * now, wherever it was given.
 */
export async function isReusable(
  db: Queries,
  { transaction, now }: ReadTransaction,
  facts: ReuseFacts,
): Promise<boolean> {
  const state = stateAt(transaction, now);
  if (!isFinal(state)) return true;
  if (state !== 'COMMITTED') return false;
  if (asksChanged(transaction)) return isAllValid(db, { transaction, now }, facts);
  const records = await readStatusFacts(db, transaction.id);
  return areValid(records, facts.active, now);
}

/**
 * Whether a single step with the answers of a transaction would change nothing: the transaction is open, or
 * committed with all its records VALID and all its parts in force, as far as this instance knows. Without
 * records its `validity` must not have passed.
 */
export async function isRepeatable(
  db: Queries,
  { transaction, now }: ReadTransaction,
  active: ActiveVersions,
): Promise<boolean> {
  const state = stateAt(transaction, now);
  if (!isFinal(state)) return true;
  if (state !== 'COMMITTED') return false;
  const records = await readStatusFacts(db, transaction.id);
  const isValid = records.some(({ isNoAnswer }) => !isNoAnswer)
    ? areValid(records, active, now)
    : addDuration(transaction.changedAt, transaction.context.validity ?? usualValidity) > now;
  return isValid && areInForce(db, transaction.id);
}

/** Whether there are answers, and all are VALID. That a question was cleared is none. */
function areValid(records: readonly StatusFacts[], active: ActiveVersions, now: Date): boolean {
  const answers = records.filter(({ isNoAnswer }) => !isNoAnswer);
  return answers.length > 0 && answers.every((record) => recordStatus(record, active, now)[0] === 'VALID');
}

/** Whether no own element needs to be asked, because of answers that may have been given anywhere. */
async function isAllValid(
  db: Queries,
  { transaction, now }: ReadTransaction,
  facts: ReuseFacts,
): Promise<boolean> {
  const earlier = await readOwnAnswers(db, transaction);
  const valid = new Set(validRecords(earlier, facts, now).map(({ key }) => key));
  const own = ownKeys(transaction);
  return own.length > 0 && own.every((key) => valid.has(key));
}

/** The subject's newest answers to the own elements of a layout. */
function readOwnAnswers(db: Queries, { context, layout }: Pick<Transaction, 'context' | 'layout'>) {
  return readEarlier(db, context.subject, context.object ?? '', ownKeys({ layout }));
}
