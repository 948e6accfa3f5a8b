import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { expiryOf, latestExpiry } from '#lib/text/answer-validity.ts';
import { queueNotification } from '../messages/queue.ts';
import { lockSubjectOf } from '../person/positions-sql.ts';
import { impliedOn } from '../receipts/notices.ts';
import { completeReceipt } from '../receipts/receipt.ts';
import { deliveryDeadline } from '../sent-parts/part.ts';
import { type Effect, effectOf, type Incoming, questionOf, sinceOf } from '../standing/in-force.ts';
import { incomingOf, type StandingAnswer } from '../standing/standing-answer.ts';
import { readStanding } from '../standing/store.ts';
import { changeLink } from '../transaction/links.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { commitSubmittedTransaction } from './commit-submitted-store.ts';
import { effectColumns, withdrawnAmong } from './commitment.ts';
import type { StoreDependencies } from './store-answers.ts';
import { readSubmitted } from './submitted-store.ts';

export type CommitDependencies = Pick<StoreDependencies, 'instance' | 'signReceipt' | 'tokens' | 'messaging'>;

/**
 * Commits submitted answers: after their code, at the leader when all owners hold their parts, and at an
 * owner when the leader has decided `commit`. What the answers do is decided now, by what the person has said
 * since. Completes and signs the receipt, and queues the notification.
 * @param submitted.code number of the code that confirms the answers; marked as used.
 * @returns the transaction afterwards; undefined if {@link commitSubmittedTransaction} returns false.
 */
export async function commitSubmitted(
  tx: Queries,
  { instance, signReceipt, tokens, messaging }: CommitDependencies,
  { id, code }: { id: string; code?: number },
): Promise<Transaction | undefined> {
  await lockSubjectOf(tx, id);
  const submitted = await readSubmitted(tx, id);
  if (!submitted) return undefined;
  const { transaction, now, draft, usedAt, answers, withdrawnParts } = submitted;
  const { subject, context, version } = transaction;
  const drafted = JSON.parse(draft) as ReceiptBody;
  const notices = impliedOn(drafted);
  const given = answers.map((answer) => ({ ...incomingOf(answer), isNotice: notices.includes(answer.key) }));
  // All answers of a transaction were given at once.
  const since = given[0] && sinceOf(given[0]);
  const asked = { subject, object: context.object ?? '', keys: answers.map(({ key }) => key) };
  const standing = await readStanding(tx, asked, since);
  const effects = answers.map(({ key }, place) =>
    effectOf(given[place] as Incoming, questionOf(standing, key)),
  );
  const expiries = new Map(
    drafted.consents.map((consent) => [consent.identifier, expiryOf(consent, context.validity, now)]),
  );
  const validUntil = latestExpiry([...expiries.values()]);
  const completed = completeReceipt(draft, {
    committedAt: now,
    confirmedAt: code === undefined ? usedAt : now,
    withdrawn: { ...withdrawnParts, ...withdrawnAmong(answers, effects) },
    expiries,
    updateUrl: changeLink(tokens, instance.baseUrl, transaction, { until: validUntil, now }),
  });
  const body = JSON.stringify(completed);
  const commitment = {
    id,
    subject,
    committedAt: now,
    validUntil,
    deadline: deliveryDeadline(context, now),
    records: answers.map((answer, place) => ({
      id: answer.id,
      expiresAt: expiries.get(identifierOf(answer))?.toISOString() ?? null,
      ...effectColumns(effects[place] as Effect),
    })),
    receipt: { body, jws: signReceipt(body) },
    code,
  };
  if (!(await commitSubmittedTransaction(tx, commitment, instance.baseUrl))) return undefined;
  await queueNotification(tx, messaging, transaction);
  const changes = {
    state: 'COMMITTED',
    version: version + 1,
    awaitsCode: false,
    changedAt: now,
    validUntil,
  } as const;
  return { ...transaction, ...changes };
}

function identifierOf({ type, key, serial }: StandingAnswer): string {
  return `element/${type}/${key}/${serial}`;
}
