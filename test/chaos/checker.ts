import type { Answers, History } from './history.ts';
import type { Stored } from './stored.ts';

/** What clients were told beside what is stored, by transaction. */
interface Facts {
  history: History;
  stored: Stored;
}

/**
 * Compares what clients were told with what is stored (reliability.md, "Invariants").
 * @returns one sentence for every breach; none if all is well.
 */
export function findBreaches(history: History, stored: Stored): string[] {
  const facts = { history, stored };
  return [
    unresolved,
    acknowledgedIsStored,
    onlyWhatWasSent,
    nothingTwice,
    receiptsTell,
    historiesAreLegal,
    changesHaveEvents,
    oneOpen,
  ].flatMap((check) => check(facts));
}

/** The checker knows only what a client was told in the end: every unknown one must have been asked again. */
function unresolved({ history }: Facts): string[] {
  const resolved = new Set(history.filter(({ told }) => told !== 'unknown').map(({ request }) => request));
  const open = history.filter(({ request, told }) => told === 'unknown' && !resolved.has(request));
  return [
    ...new Set(open.map(({ request, kind }) => `nobody knows what became of request ${request}, a ${kind}`)),
  ];
}

/** I1: what was acknowledged is there, once, with its record, receipt and state. */
function acknowledgedIsStored({ history, stored }: Facts): string[] {
  const byId = new Map(stored.transactions.map((transaction) => [transaction.id, transaction]));
  return history
    .filter(({ told }) => told === 'acknowledged')
    .flatMap((line) => {
      const found = byId.get(line.id ?? '');
      if (!found) return [`${line.kind} ${line.id} was acknowledged and is lost`];
      if (line.kind === 'cancel' && found.state !== 'CANCELLED')
        return [`${line.id} was cancelled and is ${found.state}`];
      if ('subject' in line && found.subject !== line.subject)
        return [`${line.id} is of ${found.subject} and was made for ${line.subject}`];
      if (line.kind === 'child' && found.parent !== line.parent)
        return [`${line.id} is no child of ${line.parent}`];
      return 'answers' in line ? compareAnswers(found, line.answers, stored) : [];
    });
}

function compareAnswers(
  { id, state }: { id: string; state: string },
  answers: Answers,
  stored: Stored,
): string[] {
  if (state !== 'COMMITTED') return [`the answers of ${id} were acknowledged and it is ${state}`];
  const found = Object.fromEntries(
    stored.records
      .filter(({ transaction }) => transaction === id)
      .map(({ key, value }) => [key, value.join()]),
  );
  return sameAnswers(found, answers)
    ? []
    : [`${id} was answered ${JSON.stringify(answers)} and holds ${JSON.stringify(found)}`];
}

/** I2: no answer that nobody sent, and none that was refused. */
function onlyWhatWasSent({ history, stored }: Facts): string[] {
  const sent = history.flatMap((line) => ('answers' in line && line.told !== 'refused' ? [line] : []));
  const committed = stored.transactions.filter(({ state }) => state === 'COMMITTED');
  const withoutAnswers = committed
    .filter(({ id }) => !sent.some((line) => line.id === id))
    .map(({ id }) => `${id} is COMMITTED and nobody answered it`);
  const states = new Map(stored.transactions.map(({ id, state }) => [id, state]));
  const early = stored.records
    .filter(({ transaction, state }) => states.get(transaction) !== 'COMMITTED' || state !== 'COMMITTED')
    .map(
      ({ transaction, key }) =>
        `${transaction} has a record of ${key} and is ${states.get(transaction) ?? 'missing'}`,
    );
  return [...withoutAnswers, ...early];
}

/** I2: nothing twice, whatever was sent again. */
function nothingTwice({ history, stored }: Facts): string[] {
  const subjects = new Set(history.flatMap((line) => ('subject' in line ? [line.subject] : [])));
  const roots = stored.transactions.filter(({ parent }) => parent === null).map(({ subject }) => subject);
  return [
    ...doubles(stored.records.map(({ transaction, key }) => `the record of ${key} in ${transaction}`)),
    ...doubles(stored.receipts.map(({ transaction }) => `the receipt of ${transaction}`)),
    ...doubles(roots.map((subject) => `the transaction of ${subject}`)),
    ...roots
      .filter((subject) => !subjects.has(subject))
      .map((subject) => `nobody made a transaction for ${subject}`),
  ];
}

function doubles(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))].map(
    (name) => `${name} is there twice`,
  );
}

/** Every committed transaction has a receipt that tells its records, and no other has one. */
function receiptsTell({ stored }: Facts): string[] {
  const receipts = new Map(stored.receipts.map(({ transaction, answers }) => [transaction, answers]));
  return stored.transactions.flatMap(({ id, state }) => {
    const receipt = receipts.get(id);
    if (state !== 'COMMITTED') return receipt ? [`${id} is ${state} and has a receipt`] : [];
    return receipt ? compareAnswers({ id, state }, receipt, stored) : [`${id} has no receipt`];
  });
}

/** From each state, where one may go (decisions.md §3); written down once more, so that a fault in the code's own table shows. */
const legal: Record<string, readonly string[]> = {
  '': ['CREATED'],
  CREATED: ['COMMITTED', 'SUBMITTED', 'CANCELLED', 'TIMEOUT'],
  SUBMITTED: ['COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'],
};

/** I4: versions without gaps, each step legal, the last one where the transaction is. */
function historiesAreLegal({ stored }: Facts): string[] {
  const byTransaction = Map.groupBy(stored.versions, ({ transaction }) => transaction);
  return stored.transactions.flatMap(({ id, state, version }) => {
    const versions = (byTransaction.get(id) ?? []).sort((a, b) => a.version - b.version);
    const gap = versions.length !== version || versions.some((each, index) => each.version !== index + 1);
    if (gap)
      return [
        `${id} is at version ${version}, and its history has ${versions.map((each) => each.version).join()}`,
      ];
    const path = ['', ...versions.map((each) => each.state)];
    if (path.some((to, index) => index > 0 && !legal[path[index - 1] as string]?.includes(to)))
      return [`${id} went ${path.slice(1).join(' → ')}`];
    return path.at(-1) === state ? [] : [`${id} is ${state}, and its history ends with ${path.at(-1)}`];
  });
}

const eventNames: Record<string, string> = {
  CREATED: 'created',
  SUBMITTED: 'submitted',
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timedout',
  ROLLBACK: 'rolledback',
};

/** I5: every change of state has its event, and every event was sent in the end. */
function changesHaveEvents({ stored }: Facts): string[] {
  const told = new Set(
    stored.events.map(
      ({ transaction, version, state, type }) => `${transaction} ${version} ${state} ${type}`,
    ),
  );
  const missing = stored.versions
    .filter(
      ({ transaction, version, state }) =>
        !told.has(`${transaction} ${version} ${state} io.accord.consent.${eventNames[state]}.v1`),
    )
    .map(
      ({ transaction, version, state }) =>
        `${transaction} became ${state} (version ${version}) without an event`,
    );
  return [...missing, ...(stored.waiting > 0 ? [`${stored.waiting} events were never sent`] : [])];
}

/** I6: one open transaction for a context; here each subject has one context, and each parent. */
function oneOpen({ stored }: Facts): string[] {
  const open = stored.transactions.filter(({ state }) => state === 'CREATED' || state === 'SUBMITTED');
  return doubles(open.map(({ subject, parent }) => `the open transaction of ${parent ?? subject}`));
}

function sameAnswers(one: Answers, other: Answers): boolean {
  const write = (answers: Answers) => JSON.stringify(Object.entries(answers).sort());
  return write(one) === write(other);
}
