import { storedAnswers } from './acknowledged.ts';
import { type Check, findDoubles, writeAnswers } from './evidence.ts';
import { findSecondOnes } from './second-ones.ts';

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
    .filter(({ transaction, state }) => states.get(transaction) !== 'COMMITTED' || state !== 'COMMITTED')
    .map(
      ({ transaction, key }) =>
        `${transaction} has a record of ${key} and is ${states.get(transaction) ?? 'missing'}`,
    );
  return [...withoutAnswers, ...early];
};

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
