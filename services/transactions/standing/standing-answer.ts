import type { TransactionKind } from '../transaction/transaction.ts';
import { choiceOf, type Incoming, type Source } from './in-force.ts';

/** The answer to a question that is in force, or a consent that may come into force later. */
export interface StandingAnswer {
  /** Id of the record. */
  id: string;
  transaction: string;
  /** Kind and parent of the transaction. */
  kind: TransactionKind;
  parent: string | null;
  /** Empty for none. */
  object: string;
  key: string;
  type: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  value: string[];
  /** Null for an answer to a notice. */
  positions: number[] | null;
  source: Source;
  /** The person's position that it took when it was submitted. */
  position: number;
  givenAt: Date;
  /** When this instance received it: later than `givenAt` for the part of a peer. */
  receivedAt: Date;
  /** Null while it waits. */
  committedAt: Date | null;
}

/** When an answer was given, as pages and receipts state it. */
export function statedTime({ committedAt, givenAt, receivedAt }: StandingAnswer): Date {
  // The clock of a leader may be ahead.
  return committedAt ?? (givenAt < receivedAt ? givenAt : receivedAt);
}

/** A consent that waits, as it is decided when it comes into force. */
export function incomingOf(answer: StandingAnswer): Incoming {
  const { source, givenAt, receivedAt, position, positions } = answer;
  const isNotice = positions === null;
  return { source, givenAt, receivedAt, waitingSince: position, choice: choiceOf(answer), isNotice };
}
