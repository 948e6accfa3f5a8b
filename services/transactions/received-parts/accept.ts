import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { FormsOperations, ValidCheck } from '#lib/contracts/forms.ts';
import type { OwnerVerdict, ReceivedPart, RefusalReason } from '#lib/contracts/parts.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { type CommitmentFacts, composeCommitment } from '../answer/commitment.ts';
import type { StoreDependencies } from '../answer/store-answers.ts';
import { storeAnswers } from '../answer/store-answers.ts';
import { isNotified, queueNotification } from '../messages/queue.ts';
import { withoutWithdrawnNotices } from '../receipts/notices.ts';
import { deliveryDeadline } from '../sent-parts/part.ts';
import { readStanding } from '../standing/store.ts';
import { insertTransaction } from '../transaction/store.ts';
import { createdTransaction, type NewTransaction } from '../transaction/transaction.ts';
import { decryptReceivedPart, peerTransaction } from './peer-part.ts';
import {
  type AskedStanding,
  commitPeerPart,
  hasMaxRows,
  insertedAddress,
  insertVerdict,
  type PartState,
  type PeerPartKey,
  presentVerdict,
  readPartState,
  type StoredVerdict,
} from './store.ts';

export interface AcceptDependencies extends StoreDependencies {
  db: Database;
  /** Wakes the outbox relay. */
  wake: () => void;
  forms: FormsOperations;
  /** Private keys that open parts. */
  sealingKeys: readonly PrivateKey[];
  recentTime: RecentDatabaseTime;
  log: Logger;
  metrics?: SubmissionMetrics;
}

export type RecentDatabaseTime = ReturnType<typeof createRecentDatabaseTime>;

/** Estimates the database's time from the last reading. What is stored goes by a new reading. */
export function createRecentDatabaseTime() {
  let ahead = 0;
  return {
    set(now: Date): void {
      ahead = now.getTime() - Date.now();
    },
    now(): Date {
      return new Date(Date.now() + ahead);
    },
  };
}

/** A valid part: the transaction to create and its answers. */
interface ValidPart {
  transaction: NewTransaction;
  check: ValidCheck;
  /** When the subject gave the answers to the leader. */
  givenAt: Date;
  /** The e-mail address that the subject confirmed there before the part was sent; null: none. */
  address: string | null;
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
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const estimated = recentTime.now();
    // An error of forms must not hide a verdict that the part may have already.
    const [checking] = await Promise.allSettled([checkPart(dependencies, received, estimated)]);
    const checked = checking.status === 'fulfilled' ? checking.value : undefined;
    const read = await readPartState(db, key, checked && 'check' in checked ? askedOf(checked) : undefined);
    recentTime.set(read.now);
    if (read.known) return repeatVerdict(dependencies, received, read.known);
    if (checking.status === 'rejected') throw checking.reason;
    if (Math.abs(read.now.getTime() - estimated.getTime()) > maxSkewMs) continue;
    const stored = await store(dependencies, received, checking.value, read);
    if (!stored) continue;
    metrics?.countVerdict(stored);
    wake();
    return stored;
  }
  const { known } = await readPartState(db, key);
  if (!known) throw fail('unavailable', 'Another request is storing answers of this person. Try again.');
  return repeatVerdict(dependencies, received, known);
}

const maxAttempts = 5;

/** How far the time by which a part was checked may be from the database's. */
const maxSkewMs = 1_000;

/** The questions of a part, and since when other statements may be later than its answers. */
function askedOf({ transaction: { context, leader }, check, givenAt }: ValidPart): AskedStanding {
  const { subject, object = '' } = context;
  const keys = check.answers.map(({ key }) => key);
  return { subject, object, keys, since: { source: leader?.location ?? null, at: givenAt } };
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
  { forms, sealingKeys }: AcceptDependencies,
  received: ReceivedPart,
  now: Date,
): Promise<ValidPart | { refused: RefusalReason }> {
  const opened = decryptReceivedPart(received, { keys: sealingKeys, now });
  if (!opened) return { refused: 'seal' };
  const { content, givenAt } = opened;
  const { language, info, elements, answers, subjectInfos, addressConfirmed } = content;
  const check = await forms.checkSubmission({ peer: received.peer.id, language, info, elements, answers });
  if (check.outcome === 'refused') return { refused: check.reason };
  // `element/<type>/<key>/<serial>`, as checked by forms.
  const keys = elements.map((identifier) => identifier.split('/')[2] as string);
  const asked = { info: check.info.entry.key, elements: keys };
  const transaction = peerTransaction(received, asked, subjectInfos);
  if (!transaction) return { refused: 'invalid' };
  const address = addressConfirmed ? transaction.context.subjectInfos?.emailAddress : undefined;
  return { transaction, check: { ...check, parts: [] }, givenAt, address: address ?? null };
}

/**
 * @returns undefined if the part has a verdict already, or if another statement of the person was stored
 * since the state was read.
 */
async function store(
  dependencies: AcceptDependencies,
  { peer, sid, digest: requestDigest, submission: { mode } }: ReceivedPart,
  checked: ValidPart | { refused: RefusalReason },
  { now, standing }: PartState,
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
  const { transaction, givenAt, address } = checked;
  const given = mode === 'hold' ? 'held' : 'committed';
  const verdict = { digest, verdict: given, reason: null, transaction: transaction.id } as const;
  // The peer is the author. `answersDigest` is the digest of the peer's request; it never equals a digest of
  // answers that a subject submits here.
  const principal: Principal = { roles: ['peer'], name: peer.name, account: `peer:${peer.id}` };
  const check = withoutWithdrawnNotices(checked.check, standing);
  const facts = { check, answersDigest: digest, principal, comment: null, givenAt };
  const accepted = { key, verdict, transaction, facts, address };
  const isStored =
    mode === 'hold'
      ? await db.withTransaction((tx) => holdPart(dependencies, tx, accepted))
      : await commitPart(dependencies, accepted, { now, standing });
  return isStored ? presentVerdict(verdict) : undefined;
}

interface AcceptedPart {
  key: PeerPartKey;
  verdict: StoredVerdict;
  transaction: NewTransaction;
  address: string | null;
  facts: Omit<CommitmentFacts, 'read' | 'standing'>;
}

/** Stores a part whose answers are committed at once. */
async function commitPart(
  dependencies: AcceptDependencies,
  { key, verdict, transaction, facts, address }: AcceptedPart,
  { now, standing }: Pick<PartState, 'now' | 'standing'>,
): Promise<boolean> {
  const { db, instance, messaging, signReceipt } = dependencies;
  const created = createdTransaction(transaction, now);
  const read = { transaction: created, now };
  const { commitment: unsigned, body } = composeCommitment({ ...facts, read, standing }, dependencies);
  const commitment = { ...unsigned, receipt: { body, jws: signReceipt(body) } };
  const part = { key, verdict, created, commitment, address };
  const commit = (queries: Queries) => commitPeerPart(queries, part, instance.baseUrl);
  if (!isNotified(messaging, created)) return commit(db);
  return db.withTransaction(async (tx) => {
    const isStored = await commit(tx);
    if (isStored) await queueNotification(tx, messaging, created);
    return isStored;
  });
}

/** Stores a part whose answers wait for the decision of its leader. */
async function holdPart(
  dependencies: AcceptDependencies,
  tx: Queries,
  accepted: AcceptedPart,
): Promise<boolean> {
  const { key, verdict, transaction, facts, address } = accepted;
  const source = dependencies.instance.baseUrl;
  if (!(await insertVerdict(tx, key, verdict))) return false;
  // The person is locked from here on.
  const read = await insertTransaction(tx, transaction, source);
  if (address !== null) await tx.query(insertedAddress(address, sql`${transaction.id}::text`));
  const { subject, object = '' } = transaction.context;
  const standing = await readStanding(tx, { subject, object, keys: [] });
  const holdUntil = deliveryDeadline({ peerCommit: 'together' }, read.now);
  if (!(await storeAnswers({ ...dependencies, db: tx }, { ...facts, read, standing }, holdUntil)))
    throw new Error('a transaction that was just created cannot be answered');
  await addToOutbox(tx, 'accord.peer-submissions', {
    type: 'io.accord.submission.held.v1',
    source,
    subject: key.sid,
    data: { submission: key.sid, peer: key.peer },
  });
  return true;
}
