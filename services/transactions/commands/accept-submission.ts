import type { PrivateKey } from '#lib/config/private-key.ts';
import type { AnswerCheck, FormsOperations } from '#lib/contracts/forms.ts';
import type { RefusalReason, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { SealedContent } from '#lib/federation/sealed-answers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/submission-metrics.ts';
import { deliveryDeadline } from '../domain/delivery-time.ts';
import type { NewTransaction } from '../domain/new-transaction.ts';
import { openSubmission, type ReceivedSubmission } from '../domain/open-submission.ts';
import { peerTransaction } from '../domain/peer-transaction.ts';
import { insertTransaction } from '../queries/create-transaction.ts';
import { insertSubmission, readSubmission, type StoredSubmission } from '../queries/submissions.ts';
import { commitAnswers, type SubmitDependencies } from './submit-answers.ts';

export interface AcceptDependencies extends SubmitDependencies {
  db: Database;
  forms: FormsOperations;
  /** Private keys that parts may be sealed to. */
  sealingKeys: readonly PrivateKey[];
  log: Logger;
  metrics?: SubmissionMetrics;
}

type Answered = Omit<Extract<AnswerCheck, { outcome: 'valid' }>, 'parts'>;

/** What is made of a part: a transaction with these answers, or nothing, and why. */
type Judgement = { fresh: NewTransaction; answered: Answered } | { refused: RefusalReason };

/**
 * Takes a part of the answers that a peer collected (federation.md, "Answers" 4): opens it, checks it by our own rules, and stores
 * transaction, records, receipt and verdict in one COMMIT. However often and at how many replicas the same part arrives, it is stored once
 * and gets one verdict.
 * @throws Failure `unavailable`: nothing is decided.
 */
export async function acceptSubmission(
  dependencies: AcceptDependencies,
  received: ReceivedSubmission,
): Promise<SubmissionVerdict> {
  const { db, metrics, wake } = dependencies;
  const key = { peer: received.peer.url, sid: received.sid };
  const { now, known } = await readSubmission(db, key);
  if (known) return repeatVerdict(dependencies, received, known);
  const judgement = await judge(dependencies, received, now);
  const said = await db.withTransaction((tx) =>
    store({ ...dependencies, db: tx, wake() {} }, received, judgement),
  );
  if (said) {
    metrics?.judged(said);
    wake();
    return said;
  }
  const { known: first } = await readSubmission(db, key);
  if (!first) throw fail('unavailable', 'The part is being stored by somebody else. Please try again.');
  return repeatVerdict(dependencies, received, first);
}

/** What was said stands, if it is about the same content. */
function repeatVerdict(
  { log, metrics }: AcceptDependencies,
  { digest, peer, sid }: ReceivedSubmission,
  known: StoredSubmission,
): SubmissionVerdict {
  if (known.digest === null) return { verdict: 'refused', reason: 'decided' };
  if (known.digest.equals(Buffer.from(digest, 'base64url'))) return presentVerdict(known);
  const conflict: SubmissionVerdict = { verdict: 'refused', reason: 'conflict' };
  log.warn('a peer sent other answers under a submission that it had sent before', {
    id: sid,
    address: peer.url,
  });
  metrics?.judged(conflict);
  return conflict;
}

export function presentVerdict({ verdict, reason, transaction }: StoredSubmission): SubmissionVerdict {
  return { verdict, ...(reason && { reason }), ...(transaction && { id: transaction }) };
}

async function judge(
  { forms, sealingKeys }: AcceptDependencies,
  received: ReceivedSubmission,
  now: Date,
): Promise<Judgement> {
  const content = await openSubmission(received, { keys: sealingKeys, now });
  if (!content) return { refused: 'seal' };
  const { language, info, elements, answers } = content;
  const check = await forms.checkSubmission({ peer: received.peer.id, language, info, elements, answers });
  if (check.outcome === 'refused') return { refused: check.reason };
  const fresh = peerTransaction(received, { info: check.info.entry.key, elements: elements.map(keyOf) });
  return fresh ? { fresh, answered: check } : { refused: 'invalid' };
}

/** The key in an identifier that was checked. */
function keyOf(identifier: SealedContent['elements'][number]): string {
  return identifier.split('/')[2] as string;
}

/** @returns undefined if something has been said of the part already. */
async function store(
  dependencies: Omit<AcceptDependencies, 'db'> & { db: Queries },
  received: ReceivedSubmission,
  judgement: Judgement,
): Promise<SubmissionVerdict | undefined> {
  const { peer, sid, digest, submission } = received;
  const said = { ...verdictOf(judgement, submission.mode), digest: Buffer.from(digest, 'base64url') };
  if (!(await insertSubmission(dependencies.db, { peer: peer.url, sid }, said))) return undefined;
  if ('fresh' in judgement) await storeAnswers(dependencies, received, judgement);
  return presentVerdict(said);
}

async function storeAnswers(
  dependencies: Omit<AcceptDependencies, 'db'> & { db: Queries },
  { peer, sid, digest, submission }: ReceivedSubmission,
  { fresh, answered }: Extract<Judgement, { fresh: unknown }>,
): Promise<void> {
  const { db, instance } = dependencies;
  const made = await insertTransaction(db, fresh, instance.baseUrl);
  const isHeld = submission.mode === 'hold';
  const stored = await commitAnswers(
    dependencies,
    made,
    { ...answered, parts: [] },
    {
      principal: { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` },
      comment: null,
    },
    // No answers that are submitted here are digested to this: they are not the same.
    Buffer.from(digest, 'base64url'),
    isHeld ? deliveryDeadline({ peerCommit: 'together' }, made.now) : undefined,
  );
  if (!stored) throw new Error('A transaction that was just made cannot be answered.');
  if (isHeld)
    await addToOutbox(db, 'accord.peer-submissions', {
      ...{ type: 'io.accord.submission.held.v1', source: instance.baseUrl, subject: sid },
      data: { submission: sid, peer: peer.url },
    });
}

function verdictOf(judgement: Judgement, mode: 'commit' | 'hold'): Omit<StoredSubmission, 'digest'> {
  if ('refused' in judgement) return { verdict: 'refused', reason: judgement.refused, transaction: null };
  const verdict = mode === 'hold' ? 'held' : 'committed';
  return { verdict, reason: null, transaction: judgement.fresh.id };
}
