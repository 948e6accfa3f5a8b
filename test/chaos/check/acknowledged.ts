import type { Line } from '../load/history.ts';
import { type Check, type Evidence, writeAnswers } from './evidence.ts';
import type { Stored } from './stored.ts';

type Transaction = Stored['transactions'][number];

/** Every request got an answer in the end, and no answer was one that the interface excludes. */
export const everybodyWasTold: Check = ({ history }) => {
  const resolved = new Set(history.filter(({ told }) => told !== 'unknown').map(({ request }) => request));
  const open = history.filter(({ request, told }) => told === 'unknown' && !resolved.has(request));
  const wrong = history.filter(({ told }) => told === 'wrong');
  return [
    ...new Set(open.map(({ request, kind }) => `nobody knows what became of request ${request}, a ${kind}`)),
    ...wrong.map((line) => `a ${line.kind} of ${nameOf(line)} was answered ${line.why}`),
  ];
};

const nameOf = (line: Line) => line.id ?? ('subject' in line ? line.subject : '?');

/** I1: every acknowledged transaction is stored, for the right subject, with its answers and state. */
export const acknowledgedIsStored: Check = ({ history, stored }) => {
  const byId = new Map(stored.transactions.map((transaction) => [transaction.id, transaction]));
  const answers = storedAnswers(stored);
  return history
    .filter(({ told }) => told === 'acknowledged')
    .flatMap((line) => {
      const found = byId.get(line.id ?? '');
      if (!found) return [`${line.kind} ${line.id} was acknowledged and is lost`];
      return compareLine(line, found, answers.get(found.id) ?? '{}');
    });
};

function compareLine(line: Line, found: Transaction, answers: string): string[] {
  const { id, state } = found;
  if (line.kind === 'cancel' && state !== 'CANCELLED') return [`${id} was cancelled and is ${state}`];
  if ('subject' in line && found.subject !== line.subject)
    return [`${id} is of ${found.subject} and was made for ${line.subject}`];
  if (line.kind === 'submit for a code' && state === 'CREATED')
    return [`the answers of ${id} were acknowledged and it is CREATED`];
  if (line.kind === 'child' && found.parent !== line.parent) return [`${id} is no child of ${line.parent}`];
  if (!('answers' in line)) return [];
  if (state !== 'COMMITTED') return [`the answers of ${id} were acknowledged and it is ${state}`];
  const sent = writeAnswers(line.answers);
  return answers === sent ? [] : [`${id} was answered ${sent} and holds ${answers}`];
}

/** Each transaction's records, as one text. */
export function storedAnswers({ records }: Stored): Map<string, string> {
  const byTransaction = Map.groupBy(records, ({ transaction }) => transaction);
  return new Map(
    [...byTransaction].map(([id, list]) => [
      id,
      writeAnswers(Object.fromEntries(list.map(({ key, value }) => [key, value.join()]))),
    ]),
  );
}

/**
 * A refusal says that something else has happened before (docs/interface.md, "States" and docs/interface.md):
 * so it must have, and not the same.
 */
export const refusalsAreDue: Check = (evidence) => {
  const { history, stored } = evidence;
  const states = new Map(stored.transactions.map(({ id, state }) => [id, state]));
  const answers = storedAnswers(stored);
  return history
    .filter(({ told }) => told === 'refused')
    .flatMap((line) => {
      if (line.kind === 'cancel' && states.get(line.id) === 'CANCELLED' && cancelledOnce(evidence, line.id))
        return [`${line.id} is CANCELLED, and who cancelled it was refused`];
      if (line.kind !== 'submit') return [];
      if (states.get(line.id) === 'CREATED') return [`answers of ${line.id} were refused and it is CREATED`];
      return answers.get(line.id) === writeAnswers(line.answers)
        ? [`${line.id} holds answers that were refused`]
        : [];
    });
};

/**
 * Whoever asks again because the reply was lost is told that it is too late (docs/interface.md,
 * "Credentials").
 */
function cancelledOnce({ history }: Evidence, id: string): boolean {
  return history.filter((line) => line.kind === 'cancel' && line.id === id).length === 1;
}
