import type { History } from '../load/history.ts';
import type { Stored } from './stored.ts';

/** The members of a carried event that the checker compares. */
export interface CarriedEvent {
  id: string;
  type: string;
  transaction: string;
  version: number;
  state: string;
}

/** One call of a webhook. */
export interface ReceivedCall {
  /** `webhook-id`, the same at each attempt of a delivery. */
  delivery: string;
  event: CarriedEvent;
  /** The receiver answered 2xx. */
  accepted: boolean;
}

/** A mail that the mail server has stored. */
export interface DeliveredMail {
  /** Id of the message, from its Message-ID. */
  message: string;
  /** False if its reply was lost. */
  isAcknowledged: boolean;
}

/** All that the checker reads. */
export interface Evidence {
  history: History;
  stored: Stored;
  /** What the topics carried; absent where events do not leave the process. */
  carried?: readonly CarriedEvent[];
  /** What the receiver of webhooks got; absent where there is none. */
  received?: readonly ReceivedCall[];
  /** Absent where there is no mail server. */
  mails?: readonly DeliveredMail[];
  /** Ids of poisonous messages that were put into topics. */
  poison?: readonly string[];
  /** Logged faults, unexpected exits and leaks of processes, one sentence each. */
  misconduct?: readonly string[];
}

/** One rule; @returns one sentence for every breach. */
export type Check = (evidence: Evidence) => string[];

/** Names that occur more than once. */
export function findDoubles(names: Iterable<string>): string[] {
  const seen = new Set<string>();
  const doubles = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) doubles.add(name);
    seen.add(name);
  }
  return [...doubles];
}

/** Answers in a form that can be compared. */
export function writeAnswers(answers: Record<string, string>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1))));
}
