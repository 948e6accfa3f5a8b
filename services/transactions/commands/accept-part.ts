import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { AnswerCheck, FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { RefusalReason, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { SealedContent } from '#lib/federation/sealed-answers.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { deliveryDeadline } from '../domain/part.ts';
import { openSubmission, peerTransaction, type ReceivedSubmission } from '../domain/peer-part.ts';
import type { ToldTime } from '../domain/told-time.ts';
import { createdTransaction, type NewTransaction } from '../domain/transaction.ts';
import { insertTransaction } from '../queries/create-transaction.ts';
import {
  commitSubmission,
  insertSubmission,
  isFull,
  readSubmission,
  type StoredSubmission,
  type SubmissionKey,
} from '../queries/peer-parts.ts';
import { commitAnswers, composeAnswers, type SubmitDependencies } from './submit-answers.ts';

export interface AcceptDependencies extends SubmitDependencies {
  db: Database;
  forms: FormsOperations;
  /** Private keys that parts may be sealed to. */
  sealingKeys: readonly PrivateKey[];
  time: ToldTime;
  log: Logger;
  metrics?: SubmissionMetrics;
}

type Answered = Omit<Extract<AnswerCheck, { outcome: 'valid' }>, 'parts'>;

/** What is made of a part: a transaction with these answers, or nothing, and why. */
type Judgement = Valid | { refused: RefusalReason };

interface Valid {
  fresh: NewTransaction;
  answered: Answered;
}

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
  const { db, time, metrics, wake } = dependencies;
  const key = { peer: received.peer.url, sid: received.sid };
  const done = (said: SubmissionVerdict) => {
    metrics?.judged(said);
    wake();
    return said;
  };
  const atOnce = await storeAtOnce(dependencies, received);
  if (atOnce) return done(atOnce);
  const { now, known } = await readSubmission(db, key);
  if (known) return repeatVerdict(dependencies, received, known);
  time.tell(now);
  const said = await store(dependencies, received, await judge(dependencies, received, now), { now });
  if (said) return done(said);
  const { known: first } = await readSubmission(db, key);
  if (!first) throw fail('unavailable', 'The part is being stored by somebody else. Please try again.');
  return repeatVerdict(dependencies, received, first);
}

/**
 * Most parts follow closely on another one, have not come before, and come into force: what is known of the time then is good enough to store
 * them without having asked for anything. @returns undefined if it is another one, or the time is not what it was taken for.
 */
async function storeAtOnce(
  dependencies: AcceptDependencies,
  received: ReceivedSubmission,
): Promise<SubmissionVerdict | undefined> {
  const now = dependencies.time.now();
  if (!now || received.submission.mode === 'hold') return undefined;
  // One that has come before has its verdict even while nothing can be judged.
  const judgement = await judge(dependencies, received, now).catch(() => undefined);
  if (!judgement || 'refused' in judgement) return undefined;
  return store(dependencies, received, judgement, { now, mostSecondsOff: 1 });
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
  const content = openSubmission(received, { keys: sealingKeys, now });
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

interface StoringTime {
  now: Date;
  /** By how much it may differ from the database's, if that was not asked. */
  mostSecondsOff?: number;
}

/** @returns undefined if something has been said of the part already, or the time is not right. */
async function store(
  dependencies: AcceptDependencies,
  received: ReceivedSubmission,
  judgement: Judgement,
  at: StoringTime,
): Promise<SubmissionVerdict | undefined> {
  const { peer, sid, digest, submission } = received;
  const { db } = dependencies;
  const key = { peer: peer.url, sid };
  const said = { ...verdictOf(judgement, submission.mode), digest: Buffer.from(digest, 'base64url') };
  // A refusal has to be stored: the same part again gets the same verdict. The peer tries again, and there will be room.
  if ('refused' in judgement && (await isFull(db, peer.url, 'refused')))
    throw fail('unavailable', 'Too many parts of this peer were refused. Try again later.', {
      headers: { 'Retry-After': '3600' },
    });
  const stored =
    'refused' in judgement
      ? await insertSubmission(db, key, said)
      : submission.mode === 'hold'
        ? await db.withTransaction((tx) => holdAnswers(dependencies, tx, { key, said, received, judgement }))
        : await putInForce(dependencies, { key, said, received, judgement }, at);
  return stored ? presentVerdict(said) : undefined;
}

/** A part that is taken, and what is said of it. */
interface Taken {
  key: SubmissionKey;
  said: StoredSubmission & { digest: Buffer };
  received: ReceivedSubmission;
  judgement: Valid;
}

/** Who answers: the peer. No answers that are submitted here have the digest of its request: they are not the same. */
function byPeer({ peer }: ReceivedSubmission) {
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  return { principal, comment: null };
}

async function putInForce(
  dependencies: AcceptDependencies,
  { key, said, received, judgement: { fresh, answered } }: Taken,
  { now, mostSecondsOff }: StoringTime,
): Promise<boolean> {
  const { db, time, instance, signReceipt } = dependencies;
  const created = createdTransaction(fresh, now);
  const check = { ...answered, parts: [] };
  const composed = composeAnswers(
    dependencies,
    { transaction: created, now },
    check,
    byPeer(received),
    said.digest,
  );
  const { body } = composed;
  const commitment = { ...composed.commitment, receipt: { body, jws: signReceipt(body) } };
  const stored = await commitSubmission(
    db,
    { key, said, created, commitment, mostSecondsOff },
    instance.baseUrl,
  );
  if (stored) time.tell(stored);
  return stored !== undefined;
}

async function holdAnswers(
  dependencies: AcceptDependencies,
  tx: Queries,
  { key, said, received, judgement: { fresh, answered } }: Taken,
): Promise<boolean> {
  if (!(await insertSubmission(tx, key, said))) return false;
  const { baseUrl: source } = dependencies.instance;
  const made = await insertTransaction(tx, fresh, source);
  const stored = await commitAnswers(
    { ...dependencies, db: tx, wake() {} },
    made,
    { ...answered, parts: [] },
    byPeer(received),
    said.digest,
    deliveryDeadline({ peerCommit: 'together' }, made.now),
  );
  if (!stored) throw new Error('A transaction that was just made cannot be answered.');
  const { sid, peer } = received;
  await addToOutbox(tx, 'accord.peer-submissions', {
    ...{ type: 'io.accord.submission.held.v1', source, subject: sid },
    data: { submission: sid, peer: peer.url },
  });
  return true;
}

function verdictOf(judgement: Judgement, mode: 'commit' | 'hold'): Omit<StoredSubmission, 'digest'> {
  if ('refused' in judgement) return { verdict: 'refused', reason: judgement.refused, transaction: null };
  const verdict = mode === 'hold' ? 'held' : 'committed';
  return { verdict, reason: null, transaction: judgement.fresh.id };
}
