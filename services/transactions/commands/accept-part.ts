import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { OwnerVerdict, ReceivedPart, RefusalReason } from '#lib/contracts/parts.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { type CommitmentFacts, composeCommitment, type ValidCheck } from '../domain/commitment.ts';
import { deliveryDeadline } from '../domain/part.ts';
import { decryptReceivedPart, peerTransaction } from '../domain/peer-part.ts';
import { createdTransaction, type NewTransaction } from '../domain/transaction.ts';
import {
  commitPeerPart,
  hasMaxRows,
  insertVerdict,
  type PeerPartKey,
  presentVerdict,
  readVerdict,
  type StoredVerdict,
} from '../queries/peer-parts.ts';
import { insertTransaction } from '../queries/transactions.ts';
import { endHeldPart } from './decide-part.ts';
import { isNotified, queueNotification } from './queue-messages.ts';
import { type SubmitDependencies, storeAnswers } from './submit-answers.ts';
import { withoutWithdrawnNotices } from './withdrawn-notices.ts';

export interface AcceptDependencies extends SubmitDependencies {
  db: Database;
  forms: FormsOperations;
  /** Private keys that open parts. */
  sealingKeys: readonly PrivateKey[];
  recentTime: RecentDatabaseTime;
  log: Logger;
  metrics?: SubmissionMetrics;
}

export type RecentDatabaseTime = ReturnType<typeof createRecentDatabaseTime>;

/** Estimates the database's time from a recent reading. A statement that uses the estimate must verify it. */
export function createRecentDatabaseTime() {
  let read: { now: Date; at: number } | undefined;
  return {
    set(now: Date): void {
      read = { now, at: performance.now() };
    },
    /** Undefined if the last reading is older than 1 s. */
    now(): Date | undefined {
      const sinceMs = read ? performance.now() - read.at : Number.POSITIVE_INFINITY;
      return read && sinceMs < 1_000 ? new Date(read.now.getTime() + sinceMs) : undefined;
    },
  };
}

/** A valid part: the transaction to create and its answers. */
interface ValidPart {
  transaction: NewTransaction;
  check: ValidCheck;
  /** When the subject gave the answers to the leader. */
  givenAt: Date;
}

/**
 * Gives the verdict on a part that a peer sent: decrypts it, checks it by this instance's own rules, and
 * stores transaction, records, receipt and verdict in one COMMIT (docs/federation.md, "Answers at their
 * owner"). Idempotent: a part that arrives again gets the stored verdict.
 * @throws Failure `unavailable`: there is no verdict yet.
 */
export async function acceptPart(
  dependencies: AcceptDependencies,
  received: ReceivedPart,
): Promise<OwnerVerdict> {
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
  const { known } = await readVerdict(db, key);
  if (!known) throw fail('unavailable', 'Another request is storing this part. Try again.');
  return repeatVerdict(dependencies, received, known);
}

/**
 * Fast path: a part with mode `commit` that arrives within a second after another was stored or checked is
 * stored without first looking for an earlier verdict, because that read would take 11 % of the time and of
 * the CPU.
 * @returns undefined if the slow path must be taken.
 */
async function storeAtOnce(
  dependencies: AcceptDependencies,
  received: ReceivedPart,
): Promise<OwnerVerdict | undefined> {
  const now = dependencies.recentTime.now();
  if (!now || received.submission.mode === 'hold') return undefined;
  // An error of forms must not hide a verdict that the part may have already: the slow path reads it first.
  const checked = await checkPart(dependencies, received, now).catch(() => undefined);
  if (!checked || 'refused' in checked) return undefined;
  return store(dependencies, received, checked, { now, maxSkewSeconds: 1 });
}

/** Repeats the stored verdict for the same request body; another body under the same id is a conflict. */
function repeatVerdict(
  { log, metrics }: AcceptDependencies,
  { digest, peer, sid }: ReceivedPart,
  known: StoredVerdict,
): OwnerVerdict {
  if (known.digest === null) {
    const decided: OwnerVerdict = { verdict: 'refused', reason: 'decided' };
    metrics?.countVerdict(decided);
    return decided;
  }
  if (known.digest.equals(Buffer.from(digest, 'base64url'))) return presentVerdict(known);
  const conflict: OwnerVerdict = { verdict: 'refused', reason: 'conflict' };
  const about = { id: sid, address: peer.url };
  log.warn('peer sent a different part under an id that it had used before; refused', about);
  metrics?.countVerdict(conflict);
  return conflict;
}

async function checkPart(
  { db, forms, sealingKeys }: AcceptDependencies,
  received: ReceivedPart,
  now: Date,
): Promise<ValidPart | { refused: RefusalReason }> {
  const opened = decryptReceivedPart(received, { keys: sealingKeys, now });
  if (!opened) return { refused: 'seal' };
  const { content, givenAt } = opened;
  const { language, info, elements, answers, subjectInfos } = content;
  const check = await forms.checkSubmission({ peer: received.peer.id, language, info, elements, answers });
  if (check.outcome === 'refused') return { refused: check.reason };
  // `element/<type>/<key>/<serial>`, as checked by forms.
  const keys = elements.map((identifier) => identifier.split('/')[2] as string);
  const asked = { info: check.info.entry.key, elements: keys };
  const transaction = peerTransaction(received, asked, subjectInfos);
  if (!transaction) return { refused: 'invalid' };
  const kept = await withoutWithdrawnNotices(db, transaction.context, check);
  return { transaction, check: { ...kept, parts: [] }, givenAt };
}

interface StoringTime {
  now: Date;
  /** Largest difference from the database's time; undefined if `now` was read from the database. */
  maxSkewSeconds?: number;
}

/**
 * @returns undefined if the part has a verdict already. With `maxSkewSeconds`, undefined in two more cases:
 * if `now` is too far from the database's time, and if another answer to a question of the part is later or
 * was being stored (`isNewest`).
 */
async function store(
  dependencies: AcceptDependencies,
  { peer, sid, digest: requestDigest, submission: { mode } }: ReceivedPart,
  checked: ValidPart | { refused: RefusalReason },
  time: StoringTime,
): Promise<OwnerVerdict | undefined> {
  const { db } = dependencies;
  const key = { peer: peer.url, sid };
  const digest = Buffer.from(requestDigest, 'base64url');
  if ('refused' in checked) {
    // Refusals must be stored, so that a repeated part gets the same verdict.
    if (await hasMaxRows(db, peer.url, 'refused'))
      throw fail('unavailable', 'Too many parts of this peer were refused. Try again later.', {
        headers: { 'Retry-After': '3600' },
      });
    const refusal = { digest, verdict: 'refused', reason: checked.refused, transaction: null } as const;
    return (await insertVerdict(db, key, refusal)) ? presentVerdict(refusal) : undefined;
  }
  const { transaction, check, givenAt } = checked;
  const given = mode === 'hold' ? 'held' : 'committed';
  const verdict = { digest, verdict: given, reason: null, transaction: transaction.id } as const;
  // The peer is the author. `answersDigest` is the digest of the peer's request; it never equals a digest of
  // answers that a subject submits here.
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  const facts = { check, answersDigest: digest, principal, comment: null, givenAt };
  const accepted = { key, verdict, transaction, facts };
  const isStored =
    mode === 'hold'
      ? await db.withTransaction((tx) => holdPart(dependencies, tx, accepted))
      : (await commitPart(dependencies, accepted, time)) ||
        // Nothing was stored. The fast path ends here. The slow path stores the part as older than another
        // answer, unless it has a verdict.
        (time.maxSkewSeconds === undefined && (await commitOldPart(dependencies, accepted)));
  return isStored ? presentVerdict(verdict) : undefined;
}

interface AcceptedPart {
  key: PeerPartKey;
  verdict: StoredVerdict;
  transaction: NewTransaction;
  facts: Omit<CommitmentFacts, 'read'>;
}

async function commitPart(
  dependencies: AcceptDependencies,
  { key, verdict, transaction, facts }: AcceptedPart,
  { now, maxSkewSeconds }: StoringTime,
): Promise<boolean> {
  const { db, recentTime, instance, messaging, signReceipt } = dependencies;
  const created = createdTransaction(transaction, now);
  const read = { transaction: created, now };
  const { commitment: unsigned, body } = composeCommitment({ ...facts, read }, dependencies);
  const commitment = { ...unsigned, receipt: { body, jws: signReceipt(body) } };
  const part = { key, verdict, created, commitment, maxSkewSeconds };
  const commit = (queries: Queries) => commitPeerPart(queries, part, instance.baseUrl);
  const stored = isNotified(messaging, created)
    ? await db.withTransaction(async (tx) => {
        const at = await commit(tx);
        if (at) await queueNotification(tx, messaging, created);
        return at;
      })
    : await commit(db);
  if (stored) recentTime.set(stored);
  return stored !== undefined;
}

/** Stores the transaction of a part with answers that are not in force yet. */
async function submitPart(
  dependencies: AcceptDependencies,
  tx: Queries,
  { transaction, facts }: AcceptedPart,
): Promise<void> {
  const read = await insertTransaction(tx, transaction, dependencies.instance.baseUrl);
  const holdUntil = deliveryDeadline({ peerCommit: 'together' }, read.now);
  if (!(await storeAnswers({ ...dependencies, db: tx }, { ...facts, read }, holdUntil)))
    throw new Error('a transaction that was just created cannot be answered');
}

/**
 * Commits a part that was not committed at once, because another answer to one of its questions is later or
 * was being stored. If the other answer is later, the part takes effect before that answer and does not
 * replace it (docs/withdrawal.md, "The rule").
 */
function commitOldPart(dependencies: AcceptDependencies, accepted: AcceptedPart): Promise<boolean> {
  const { key, verdict, transaction } = accepted;
  return dependencies.db.withTransaction(async (tx) => {
    if (!(await insertVerdict(tx, key, { ...verdict, verdict: 'held' }))) return false;
    await submitPart(dependencies, tx, accepted);
    await endHeldPart(dependencies, tx, { key, transaction: transaction.id, decision: 'commit' });
    return true;
  });
}

async function holdPart(
  dependencies: AcceptDependencies,
  tx: Queries,
  accepted: AcceptedPart,
): Promise<boolean> {
  const { key, verdict } = accepted;
  const source = dependencies.instance.baseUrl;
  if (!(await insertVerdict(tx, key, verdict))) return false;
  await submitPart(dependencies, tx, accepted);
  await addToOutbox(tx, 'accord.peer-submissions', {
    type: 'io.accord.submission.held.v1',
    source,
    subject: key.sid,
    data: { submission: key.sid, peer: key.peer },
  });
  return true;
}
