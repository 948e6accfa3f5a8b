import type { AnswerCheck } from '#lib/contracts/forms.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { composeFollowers, deliveryDeadline, type NewFollower } from './part.ts';
import { composeReceipt, type Receipt } from './receipt.ts';
import { expiringAt } from './records.ts';
import type { Transaction } from './transaction.ts';
import { addDuration } from './values.ts';

/** A record to be stored; times are RFC 3339. */
export interface NewRecord {
  id: string;
  key: string;
  type: string;
  serial: string;
  value: string[];
  positions: number[] | null;
  expiresAt: string | null;
}

/** All that one COMMIT stores. */
export interface Commitment {
  id: string;
  /** The version that was read; another one means somebody was faster. */
  version: number;
  answersDigest: Buffer;
  committedAt: Date;
  object: string;
  origin: string;
  author: string;
  comment: string | null;
  infoKey: string;
  infoSerial: string;
  records: NewRecord[];
  /** When the first notice of their expiry is due: RFC 3339, or `infinity`. */
  noticeAt: string;
  receipt: { body: string; jws: string };
  /** Peers' parts; absent: none. */
  followers?: readonly NewFollower[];
}

/** What is recorded when checked answers are committed. */
export interface CommitmentFacts {
  transaction: Transaction;
  check: Extract<AnswerCheck, { outcome: 'valid' }>;
  answersDigest: Buffer;
  author: string;
  comment: string | null;
  committedAt: Date;
  /** See {@link recordsExpiry}. */
  expiresAt: Date;
  /** How long before that `consent.expiring` is told, at most. */
  expiryNoticeMs: number;
  instance: { name: string; baseUrl: string };
  receiptId: string;
  updateUrl: string | undefined;
}

/** Composes what one COMMIT stores, but for the receipt's signature. `conditions` never expire (docs/interface.md, "Records"). */
export function composeCommitment(facts: CommitmentFacts): {
  commitment: Omit<Commitment, 'receipt'>;
  receipt: Receipt;
} {
  const { transaction, check, committedAt, expiresAt } = facts;
  const { context } = transaction;
  const expires = (type: string) => (type === 'conditions' ? null : expiresAt.toISOString());
  const followers = composeFollowers(check.parts, {
    mode: waitsForPeers(transaction, check) ? 'hold' : 'commit',
    language: check.language,
    deadline: deliveryDeadline(context, committedAt),
  });
  const allLast = check.answers.every(({ type }) => type === 'conditions');
  const receipt = composeReceipt({
    receiptId: facts.receiptId,
    transaction,
    author: facts.author,
    instance: facts.instance,
    language: check.language,
    information: check.info,
    answers: check.answers,
    unanswered: check.unanswered ?? [],
    peers: followers.map(({ name, location, shown }) => ({ name, location, ...shown })),
    committedAt,
    expiresAt: allLast ? null : expiresAt,
    updateUrl: facts.updateUrl,
  });
  const commitment = {
    id: transaction.id,
    version: transaction.version,
    answersDigest: facts.answersDigest,
    committedAt,
    object: context.object ?? '',
    origin: context.origin,
    author: facts.author,
    comment: facts.comment,
    infoKey: check.info.entry.key,
    infoSerial: check.info.serial,
    records: check.answers.map(({ key, type, serial, value, positions }) => ({
      id: newUuid(),
      key,
      type,
      serial,
      value,
      positions,
      expiresAt: expires(type),
    })),
    noticeAt: allLast
      ? 'infinity'
      : expiringAt({ from: committedAt, to: expiresAt }, facts.expiryNoticeMs).toISOString(),
    followers,
  };
  return { commitment, receipt };
}

/** Whether answers come into force only when all peers hold theirs (docs/interface.md, "States"). */
export function waitsForPeers(
  { context }: Pick<Transaction, 'context'>,
  { parts }: Pick<CommitmentFacts['check'], 'parts'>,
): boolean {
  return context.peerCommit === 'together' && parts.length > 0;
}

/** When records of a transaction committed at `committedAt` expire. */
export function recordsExpiry(transaction: Transaction, committedAt: Date): Date {
  return addDuration(committedAt, transaction.context.validity);
}
