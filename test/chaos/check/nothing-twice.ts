import { storedAnswers } from './acknowledged.ts';
import { type Check, findDoubles, writeAnswers } from './evidence.ts';
import type { Stored } from './stored.ts';

const twice = (names: Iterable<string>) => findDoubles(names).map((name) => `${name} is there twice`);

/** I2: nothing twice, whatever was sent again. */
export const nothingTwice: Check = ({ history, stored }) => {
  const subjects = new Set(history.flatMap((line) => ('subject' in line ? [line.subject] : [])));
  const roots = stored.transactions.filter(({ parent }) => parent === null).map(({ subject }) => subject);
  const { rootTwice, childTwice } = findSecondOnes(stored);
  return [
    ...twice(stored.records.map(({ transaction, key }) => `the record of ${key} in ${transaction}`)),
    ...twice(stored.receipts.map(({ transaction }) => `the receipt of ${transaction}`)),
    ...rootTwice.map((subject) => `the transaction of ${subject} is there twice`),
    ...childTwice.map((parent) => `the child of ${parent} is there twice`),
    ...roots
      .filter((subject) => !subjects.has(subject))
      .map((subject) => `nobody made a transaction for ${subject}`),
  ];
};

/** I2: no answer that nobody sent, and none that is not in force. */
export const onlyWhatWasSent: Check = ({ history, stored }) => {
  const sent = new Set(
    history.flatMap((line) => ('answers' in line && line.told !== 'refused' && line.id ? [line.id] : [])),
  );
  const withoutAnswers = stored.transactions
    .filter(({ id, state }) => state === 'COMMITTED' && !sent.has(id))
    .map(({ id }) => `${id} is COMMITTED and nobody answered it`);
  const states = new Map(stored.transactions.map(({ id, state }) => [id, state]));
  const early = stored.records
    .filter(({ transaction, state }) => state !== recordState(states.get(transaction)))
    .map(
      ({ transaction, key }) =>
        `${transaction} has a record of ${key} and is ${states.get(transaction) ?? 'missing'}`,
    );
  return [...withoutAnswers, ...early];
};

/** The state of all records of a transaction in this state; undefined if it may have none. */
function recordState(state: string | undefined): string | undefined {
  if (state === 'COMMITTED') return state;
  if (state === 'SUBMITTED') return 'PENDING';
  return state === 'TIMEOUT' || state === 'ROLLBACK' ? 'ROLLED_BACK' : undefined;
}

/** Every committed transaction has a receipt that tells its records, and no other has one. */
export const receiptsTell: Check = ({ stored }) => {
  const receipts = new Map(stored.receipts.map(({ transaction, answers }) => [transaction, answers]));
  const answers = storedAnswers(stored);
  return stored.transactions.flatMap(({ id, state }) => {
    const receipt = receipts.get(id);
    if (state !== 'COMMITTED') return receipt ? [`${id} is ${state} and has a receipt`] : [];
    if (!receipt) return [`${id} has no receipt`];
    const [told, held] = [writeAnswers(receipt), answers.get(id) ?? '{}'];
    return told === held ? [] : [`the receipt of ${id} tells ${told} and it holds ${held}`];
  });
};

/** I6: one open transaction for a context; here each subject has one context, and each parent. */
export const oneOpen: Check = ({ stored }) =>
  twice(
    stored.transactions
      .filter(({ state }) => state === 'CREATED' || state === 'SUBMITTED')
      .map(({ subject, parent }) => `the open transaction of ${parent ?? subject}`),
  );

/**
 * Transactions that were made although there was one already. Each subject has one context and each parent is
 * asked for one child, however often; but a request that a sleeping process carries out long after its sender
 * has given up is a new one, if what it asked for has ended meanwhile (docs/interface.md, "Duplicate
 * creation" and "Child").
 */
function findSecondOnes({ transactions, events }: Stored): {
  rootTwice: string[];
  childTwice: string[];
} {
  const made = new Map(
    events.filter(({ state }) => state === 'CREATED').map(({ transaction, at }) => [transaction, at]),
  );
  const ended = new Map(
    events.filter(({ state }) => state !== 'CREATED').map((event) => [event.transaction, event]),
  );
  /**
   * When a transaction no longer answers for a new one. A committed one does so for as long as its records
   * are valid.
   */
  const freeFrom = (id: string, isChild: boolean) => {
    const end = ended.get(id);
    return end && (isChild || end.state !== 'COMMITTED') ? end.at : Number.POSITIVE_INFINITY;
  };
  const second = (siblings: readonly { id: string }[], isChild: boolean) => {
    const inOrder = siblings
      .map(({ id }) => ({ id, at: made.get(id) ?? 0 }))
      .sort((one, other) => one.at - other.at);
    return inOrder.some(
      ({ at }, index) => index > 0 && at < freeFrom((inOrder[index - 1] as { id: string }).id, isChild),
    );
  };
  const twice = (groups: Map<string, { id: string }[]>, isChild: boolean) =>
    [...groups].filter(([, siblings]) => second(siblings, isChild)).map(([name]) => name);
  const roots = transactions.filter(({ parent }) => parent === null);
  const children = transactions.filter(({ parent }) => parent !== null);
  return {
    rootTwice: twice(
      Map.groupBy(roots, ({ subject }) => subject),
      false,
    ),
    childTwice: twice(
      Map.groupBy(children, ({ parent }) => parent as string),
      true,
    ),
  };
}
