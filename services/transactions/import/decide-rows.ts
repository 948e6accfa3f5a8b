import { newUuid, randomId } from '#lib/ids/random-ids.ts';
import {
  choiceOf,
  effectOf,
  type Incoming,
  isRefusedHere,
  type Question,
  type Statement,
} from '../standing/in-force.ts';
import type { ImportRow } from './row.ts';

/** A row that has been checked, as it is stored. */
export interface CheckedRow extends ImportRow {
  /** Its place in the request, from 1. */
  row: number;
  identifier: string;
  type: string;
  value: string[];
  positions: number[] | null;
  infoKey: string;
  infoSerial: string;
  expiresAt: Date | null;
  isVerified: boolean;
}

/** A record that is taken over, with what it does to other answers. */
export interface TakenOver extends CheckedRow {
  id: string;
  transaction: string;
  isInForce: boolean;
  /** Place among the statements of the request. */
  place: number;
  /** Place of the statement of the same request that ends it; null: none does. */
  until: number | null;
  endedBy: string | null;
  withdraws: string | null;
}

/** An answer that was in force before, and is not any more. */
export interface EndedBefore {
  id: string;
  by: string;
  place: number;
  /** Whether it was a consent, which a refusal ends. */
  isWithdrawn: boolean;
  key: string;
  /** Of the refusal. */
  transaction: string;
}

export interface Decided {
  records: TakenOver[];
  ended: EndedBefore[];
  /** Rows with a consent after a refusal that was collected here. */
  refusedHere: CheckedRow[];
}

/** The name of the question of a row among those of a request. */
export function questionName({ subject, object, key }: { subject: string; object: string; key: string }) {
  return JSON.stringify([subject, object, key]);
}

/**
 * Decides what the rows of a request do, as if each arrived by itself in the order in which they were given
 * (docs/withdrawal.md, "The rule").
 * @param questions what is known of the questions, by {@link questionName}.
 */
export function decideRows(
  rows: readonly CheckedRow[],
  questions: ReadonlyMap<string, Question>,
  now: Date,
): Decided {
  const decided: Decided = { records: [], ended: [], refusedHere: [] };
  const statements = new Map<string, Statement[]>();
  const byId = new Map<string, TakenOver>();
  const transactions = new Map<string, string>();
  const ordered = rows.toSorted((a, b) => a.givenAt.getTime() - b.givenAt.getTime() || a.row - b.row);
  for (const row of ordered) {
    const name = questionName(row);
    const known = statements.get(name) ?? [...(questions.get(name)?.statements ?? [])];
    statements.set(name, known);
    const incoming = incomingOf(row, now);
    const question = { statements: known, orderedAt: null };
    if (isRefusedHere(incoming, question)) {
      decided.refusedHere.push(row);
      continue;
    }
    const effect = effectOf(incoming, question);
    const record: TakenOver = {
      ...row,
      id: newUuid(),
      transaction: transactionOf(row, transactions),
      isInForce: effect.isInForce,
      place: decided.records.length,
      until: null,
      endedBy: null,
      withdraws: effect.withdraws && effect.ends ? effect.ends.id : null,
    };
    if (effect.ends) end(effect.ends, record);
    decided.records.push(record);
    byId.set(record.id, record);
    known.push(statementOf(record, incoming));
  }
  return decided;

  function end(ended: Statement, by: TakenOver): void {
    const known = statements.get(questionName(by)) as Statement[];
    known[known.indexOf(ended)] = { ...ended, isInForce: false };
    const sameRequest = byId.get(ended.id);
    if (sameRequest) Object.assign(sameRequest, { until: by.place, endedBy: by.id });
    else {
      const { id, place, key, transaction, withdraws } = by;
      const isWithdrawn = withdraws !== null;
      decided.ended.push({ id: ended.id, by: id, place, isWithdrawn, key, transaction });
    }
  }
}

function incomingOf(row: CheckedRow, now: Date): Incoming {
  return {
    source: null,
    givenAt: row.givenAt,
    receivedAt: now,
    waitingSince: null,
    choice: choiceOf(row),
    isNotice: row.type === 'processing' && row.positions === null,
    isImported: true,
  };
}

function statementOf(record: TakenOver, { choice, givenAt }: Incoming): Statement {
  return {
    id: record.id,
    source: null,
    givenAt,
    committedAt: givenAt,
    position: Number.MAX_SAFE_INTEGER,
    choice,
    endedConsent: record.withdraws !== null,
    isOrdered: false,
    isImported: true,
    isInForce: record.isInForce,
  };
}

/** Answers that were given together are one transaction. */
function transactionOf(row: CheckedRow, known: Map<string, string>): string {
  const { subject, object, givenAt, source, author, comment, evidence } = row;
  const together = JSON.stringify([subject, object, givenAt, source, author, comment, evidence?.value]);
  const id = known.get(together) ?? randomId();
  known.set(together, id);
  return id;
}
