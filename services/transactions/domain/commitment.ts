import type { AnswerCheck } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { authorOf } from './access.ts';
import { composeParts, deliveryDeadline, type NewPart } from './part.ts';
import { composeReceipt, type SignedReceipt } from './receipt.ts';
import { expiringAt } from './records.ts';
import { type ReadTransaction, recordsExpiry, type Transaction } from './transaction.ts';
import { changeLink, type TransactionTokens } from './transaction-token.ts';

export type ValidCheck = Extract<AnswerCheck, { outcome: 'valid' }>;

/** A record to be stored; times are RFC 3339. */
export interface NewRecord {
  id: string;
  key: string;
  type: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  value: string[];
  positions: number[] | null;
  expiresAt: string | null;
  /** Of a withdrawal: id of the accepted record that this refusal ends; that record may still be PENDING. */
  withdraws?: string;
}

/** What the COMMIT of a submission stores. */
export interface Commitment {
  id: string;
  /** The version that was read; the write fails if it has changed. */
  version: number;
  /** Null for a withdrawal, which nobody submits again. */
  answersDigest: Buffer | null;
  submittedAt: Date;
  /** When the answers were given: before `submittedAt` for a part that took time to arrive, and for a
   * single step with parts. */
  givenAt: Date;
  object: string;
  origin: string;
  author: string;
  comment: string | null;
  records: NewRecord[];
  /** When the first expiry notice is due: RFC 3339, or `infinity`. */
  noticeAt: string;
  receipt: SignedReceipt;
  parts: readonly NewPart[];
}

/** Checked answers and who gave them. */
export interface CommitmentFacts {
  read: ReadTransaction;
  check: ValidCheck;
  answersDigest: Buffer;
  principal: Principal;
  comment: string | null;
  /** Whether the form was opened, or the answers were sent, with Global Privacy Control. */
  gpc?: boolean;
  /** When the answers were given; default: now. */
  givenAt?: Date;
}

export interface CommitmentSettings {
  instance: { name: string; baseUrl: string };
  tokens: TransactionTokens;
  /** The setting EXPIRY_NOTICE. */
  expiryNoticeMs: number;
}

/** Composes what one COMMIT stores, and the body of its receipt, which is not signed yet. */
export function composeCommitment(
  {
    read: { transaction, now },
    check,
    answersDigest,
    principal,
    comment,
    gpc = false,
    givenAt = now,
  }: CommitmentFacts,
  { instance, tokens, expiryNoticeMs }: CommitmentSettings,
): { commitment: Omit<Commitment, 'receipt'>; body: string } {
  const { context } = transaction;
  const author = authorOf(principal, transaction);
  const expiresAt = recordsExpiry(transaction, now);
  const parts = composeParts(check.parts, {
    mode: waitsForPeers(transaction, check) ? 'hold' : 'commit',
    language: check.language,
    deadline: deliveryDeadline(context, now),
  });
  // `conditions` never expire (docs/interface.md, "Records"). Answers to peers expire at their owners.
  const expires = check.answers.some(({ type }) => type !== 'conditions');
  const receipt = composeReceipt({
    transaction,
    check,
    author,
    instance,
    peers: parts.map(({ name, location, shown }) => ({ name, location, ...shown })),
    committedAt: now,
    gpc,
    expiresAt: expires ? expiresAt : null,
    updateUrl: changeLink(tokens, instance.baseUrl, transaction, expiresAt),
  });
  const commitment = {
    id: transaction.id,
    version: transaction.version,
    answersDigest,
    submittedAt: now,
    givenAt,
    object: context.object ?? '',
    origin: context.origin,
    author,
    comment,
    records: check.answers.map(({ key, type, serial, value, positions }) => ({
      id: newUuid(),
      key,
      type,
      serial,
      infoKey: check.info.entry.key,
      infoSerial: check.info.serial,
      value,
      positions,
      expiresAt: type === 'conditions' ? null : expiresAt.toISOString(),
    })),
    noticeAt: expires ? expiringAt({ from: now, to: expiresAt }, expiryNoticeMs).toISOString() : 'infinity',
    parts,
  };
  return { commitment, body: JSON.stringify(receipt) };
}

/** Whether answers take effect only when all owners hold their parts (docs/interface.md, "States"). */
export function waitsForPeers(
  { context }: Pick<Transaction, 'context'>,
  { parts }: Pick<ValidCheck, 'parts'>,
): boolean {
  return context.peerCommit === 'together' && parts.length > 0;
}
