import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { RefusalReason, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { composeCommitment, type ValidCheck } from '../domain/commitment.ts';
import { deliveryDeadline } from '../domain/part.ts';
import {
  decryptReceivedPart,
  peerTransaction,
  type ReceivedPart,
  type RecentDatabaseTime,
} from '../domain/peer-part.ts';
import { createdTransaction, type NewTransaction, type ReadTransaction } from '../domain/transaction.ts';
import {
  commitPeerPart,
  insertVerdict,
  isFull,
  type PeerPartKey,
  readVerdict,
  type StoredVerdict,
} from '../queries/peer-parts.ts';
import { insertTransaction } from '../queries/transactions.ts';
import { type SubmitDependencies, storeAnswers } from './submit-answers.ts';

export interface AcceptDependencies extends SubmitDependencies {
  db: Database;
  forms: FormsOperations;
  /** Private keys that parts may be sealed to. */
  sealingKeys: readonly PrivateKey[];
  recentTime: RecentDatabaseTime;
  log: Logger;
  metrics?: SubmissionMetrics;
}

/** A valid part: the transaction to create and its answers. */
interface ValidPart {
  transaction: NewTransaction;
  check: ValidCheck;
}

/**
 * Gives the verdict on a part that a peer sent: decrypts it, checks it by this instance's own rules, and
 * stores transaction, records, receipt and verdict in one COMMIT (docs/federation.md, "Answers at their
 * owner"). Idempotent: a part that arrives again gets its first verdict.
 * @throws Failure `unavailable`: there is no verdict yet.
 */
export async function acceptPart(
  dependencies: AcceptDependencies,
  received: ReceivedPart,
): Promise<SubmissionVerdict> {
  const { db, recentTime, metrics, wake } = dependencies;
  const key = { peer: received.peer.url, sid: received.sid };
  let stored = await storeAtOnce(dependencies, received);
  if (!stored) {
    const { now, known } = await readVerdict(db, key);
    if (known) return repeatVerdict(dependencies, received, known);
    recentTime.set(now);
    stored = await store(dependencies, received, await checkPart(dependencies, received, now), { now });
  }
  if (stored) {
    metrics?.countVerdict(stored);
    wake();
    return stored;
  }
  const { known: first } = await readVerdict(db, key);
  if (!first) throw fail('unavailable', 'Another request is storing this part. Try again.');
  return repeatVerdict(dependencies, received, first);
}

/**
 * Fast path: a valid part that follows another one within a second is stored without reading first. The read
 * is 11 % of the time and of the CPU of this command.
 * @returns undefined if the part must be stored the other way.
 */
async function storeAtOnce(
  dependencies: AcceptDependencies,
  received: ReceivedPart,
): Promise<SubmissionVerdict | undefined> {
  const now = dependencies.recentTime.now();
  if (!now || received.submission.mode === 'hold') return undefined;
  // Errors of forms are ignored here: the part may have a verdict already.
  const checked = await checkPart(dependencies, received, now).catch(() => undefined);
  if (!checked || 'refused' in checked) return undefined;
  return store(dependencies, received, checked, { now, maxSkewSeconds: 1 });
}

/** The first verdict stands if the content is the same. */
function repeatVerdict(
  { log, metrics }: AcceptDependencies,
  { digest, peer, sid }: ReceivedPart,
  known: StoredVerdict,
): SubmissionVerdict {
  if (known.digest === null) return { verdict: 'refused', reason: 'decided' };
  if (known.digest.equals(Buffer.from(digest, 'base64url'))) return presentVerdict(known);
  const conflict: SubmissionVerdict = { verdict: 'refused', reason: 'conflict' };
  log.warn('peer sent other answers under an id that it had used before; refused', {
    id: sid,
    address: peer.url,
  });
  metrics?.countVerdict(conflict);
  return conflict;
}

export function presentVerdict({ verdict, reason, transaction }: StoredVerdict): SubmissionVerdict {
  return { verdict, ...(reason && { reason }), ...(transaction && { id: transaction }) };
}

async function checkPart(
  { forms, sealingKeys }: AcceptDependencies,
  received: ReceivedPart,
  now: Date,
): Promise<ValidPart | { refused: RefusalReason }> {
  const content = decryptReceivedPart(received, { keys: sealingKeys, now });
  if (!content) return { refused: 'seal' };
  const { language, info, elements, answers } = content;
  const check = await forms.checkSubmission({ peer: received.peer.id, language, info, elements, answers });
  if (check.outcome === 'refused') return { refused: check.reason };
  // `element/<type>/<key>/<serial>`, as checked by forms.
  const keys = elements.map((identifier) => identifier.split('/')[2] as string);
  const transaction = peerTransaction(received, { info: check.info.entry.key, elements: keys });
  return transaction ? { transaction, check: { ...check, parts: [] } } : { refused: 'invalid' };
}

interface StoringTime {
  now: Date;
  /** Largest difference from the database's time; undefined if `now` was read from the database. */
  maxSkewSeconds?: number;
}

/** @returns undefined if the part has a verdict already, or `now` is not the database's time. */
async function store(
  dependencies: AcceptDependencies,
  received: ReceivedPart,
  checked: ValidPart | { refused: RefusalReason },
  time: StoringTime,
): Promise<SubmissionVerdict | undefined> {
  const { db } = dependencies;
  const { peer, sid, submission } = received;
  const key = { peer: peer.url, sid };
  const digest = Buffer.from(received.digest, 'base64url');
  let verdict: StoredVerdict & { digest: Buffer };
  let isStored: boolean;
  if ('refused' in checked) {
    // Refusals must be stored, so that a repeated part gets the same verdict.
    if (await isFull(db, peer.url, 'refused'))
      throw fail('unavailable', 'Too many parts of this peer were refused. Try again later.', {
        headers: { 'Retry-After': '3600' },
      });
    verdict = { digest, verdict: 'refused', reason: checked.refused, transaction: null };
    isStored = await insertVerdict(db, key, verdict);
  } else {
    const isHold = submission.mode === 'hold';
    verdict = {
      digest,
      verdict: isHold ? 'held' : 'committed',
      reason: null,
      transaction: checked.transaction.id,
    };
    const accepted = { key, verdict, received, part: checked };
    isStored = isHold
      ? await db.withTransaction((tx) => holdPart(dependencies, tx, accepted))
      : await commitPart(dependencies, accepted, time);
  }
  return isStored ? presentVerdict(verdict) : undefined;
}

interface AcceptedPart {
  key: PeerPartKey;
  verdict: StoredVerdict & { digest: Buffer };
  received: ReceivedPart;
  part: ValidPart;
}

/**
 * The peer is the author. The digest is that of its request, so it never equals a digest of answers that were
 * submitted here.
 */
function factsOf({ verdict, received: { peer }, part: { check } }: AcceptedPart, read: ReadTransaction) {
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  return { read, check, answersDigest: verdict.digest, principal, comment: null };
}

async function commitPart(
  dependencies: AcceptDependencies,
  accepted: AcceptedPart,
  { now, maxSkewSeconds }: StoringTime,
): Promise<boolean> {
  const { db, recentTime, instance, signReceipt } = dependencies;
  const { key, verdict, part } = accepted;
  const created = createdTransaction(part.transaction, now);
  const facts = factsOf(accepted, { transaction: created, now });
  const { commitment, body } = composeCommitment(facts, dependencies);
  const receipt = { body, jws: signReceipt(body) };
  const stored = await commitPeerPart(
    db,
    { key, verdict, created, commitment: { ...commitment, receipt }, maxSkewSeconds },
    instance.baseUrl,
  );
  if (stored) recentTime.set(stored);
  return stored !== undefined;
}

async function holdPart(
  dependencies: AcceptDependencies,
  tx: Queries,
  accepted: AcceptedPart,
): Promise<boolean> {
  const { key, verdict, part } = accepted;
  const { baseUrl: source } = dependencies.instance;
  if (!(await insertVerdict(tx, key, verdict))) return false;
  const read = await insertTransaction(tx, part.transaction, source);
  const holdUntil = deliveryDeadline({ peerCommit: 'together' }, read.now);
  const stored = await storeAnswers(
    { ...dependencies, db: tx, wake() {} },
    factsOf(accepted, read),
    holdUntil,
  );
  if (!stored) throw new Error('a transaction that was just created cannot be answered');
  await addToOutbox(tx, 'accord.peer-submissions', {
    type: 'io.accord.submission.held.v1',
    source,
    subject: key.sid,
    data: { submission: key.sid, peer: key.peer },
  });
  return true;
}
