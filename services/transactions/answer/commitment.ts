import type { ValidCheck } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { expiryOf, latestExpiry } from '#lib/text/answer-validity.ts';
import { isImplied } from '../receipts/notices.ts';
import { composeReceipt, type SignedReceipt } from '../receipts/receipt.ts';
import { composeParts, deliveryDeadline, type NewPart } from '../sent-parts/part.ts';
import {
  choiceOf,
  type Effect,
  effectOf,
  questionOf,
  type Source,
  type Standing,
} from '../standing/in-force.ts';
import { firstNotice } from '../standing/status.ts';
import { authorOf, originOf } from '../transaction/access.ts';
import { changeLink, type TransactionTokens } from '../transaction/links.ts';
import type { ReadTransaction, Transaction } from '../transaction/transaction.ts';

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
}

/** A record with what it does to the answers before it ({@link Effect}). */
export interface CommittedRecord extends NewRecord {
  isInForce: boolean;
  /** Id of the record that it replaces. */
  ends: string | null;
  /** Id of the accepted record that this refusal ends. That of a withdrawal may still be PENDING. */
  withdraws: string | null;
}

/** What a record stores of its effect. */
export function effectColumns({ isInForce, ends, withdraws }: Effect) {
  return { isInForce, ends: ends?.id ?? null, withdraws: withdraws && ends ? ends.id : null };
}

/** What the COMMIT of a submission stores. */
export interface Commitment {
  id: string;
  /** The version that was read; the write fails if it has changed. */
  version: number;
  subject: string;
  /** The person's position that was read; the write fails if it has changed. Null: the person is locked. */
  seen: number | null;
  source: Source;
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
  records: CommittedRecord[];
  /** When the last of the answers expires; null: none does. */
  validUntil: Date | null;
  /** When the first expiry notice is due: RFC 3339, or `infinity`. */
  noticeAt: string;
  receipt: SignedReceipt;
  parts: readonly NewPart[];
}

/** Checked answers and who gave them. */
export interface CommitmentFacts {
  read: ReadTransaction;
  /** What the person has said about the questions. */
  standing: Standing;
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
    standing,
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
  const origin = originOf(principal, transaction);
  const common: Parameters<typeof composeParts>[1] = {
    mode: waitsForPeers(transaction, check) ? 'hold' : 'commit',
    language: check.language,
    deadline: deliveryDeadline(context, now),
  };
  const parts = composeParts(check.parts, common, { validity: context.validity, now });
  const expiries = check.answers.map(({ identifier, content }) =>
    expiryOf({ identifier, texts: content }, context.validity, now),
  );
  // Answers to peers expire at their owners.
  const validUntil = latestExpiry(expiries);
  const source = transaction.leader?.location ?? null;
  const effects = check.answers.map((answer) => {
    const isNotice = isImplied(answer);
    const incoming = {
      source,
      givenAt,
      receivedAt: now,
      waitingSince: null,
      choice: choiceOf(answer),
      isNotice,
    };
    return effectOf(incoming, questionOf(standing, answer.key));
  });
  const receipt = composeReceipt({
    transaction,
    check,
    author,
    origin,
    instance,
    peers: parts.map(({ name, location, shown }) => ({ name, location, ...shown })),
    committedAt: now,
    withdrawn: withdrawnAmong(check.answers, effects),
    gpc,
    expiries,
    updateUrl: changeLink(tokens, instance.baseUrl, transaction, { until: validUntil, now }),
  });
  const commitment = {
    id: transaction.id,
    version: transaction.version,
    subject: transaction.subject,
    seen: standing.position,
    source,
    answersDigest,
    submittedAt: now,
    givenAt,
    object: context.object ?? '',
    origin,
    author,
    comment,
    records: check.answers.map(({ key, type, serial, value, positions }, place) => ({
      id: newUuid(),
      key,
      type,
      serial,
      infoKey: check.info.entry.key,
      infoSerial: check.info.serial,
      value,
      positions,
      expiresAt: expiries[place]?.toISOString() ?? null,
      ...effectColumns(effects[place] as Effect),
    })),
    validUntil,
    noticeAt: firstNotice({ committedAt: now, expiries }, expiryNoticeMs),
    parts,
  };
  return { commitment, body: JSON.stringify(receipt) };
}

/** When consents were withdrawn after they were given, by the key of the question. */
export function withdrawnAmong(
  answers: readonly { key: string }[],
  effects: readonly Effect[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    answers.flatMap(({ key }, place) => {
      const at = effects[place]?.withdrawnAt;
      return at ? [[key, at.toISOString()]] : [];
    }),
  );
}

/** Whether answers take effect only when all owners hold their parts (docs/interface.md, "States"). */
export function waitsForPeers(
  { context }: Pick<Transaction, 'context'>,
  { parts }: Pick<ValidCheck, 'parts'>,
): boolean {
  return context.peerCommit === 'together' && parts.length > 0;
}
