import type { Stored } from './stored.ts';

/**
 * Transactions that were made although there was one already. Each subject has one context and each parent is asked for one child, however often;
 * but a request that a sleeping process carries out long after its sender has given up is a new one, if what it asked for has ended meanwhile
 * (docs/interface.md, "Duplicate creation" and "Child").
 */
export function findSecondOnes({ transactions, events }: Stored): {
  rootTwice: string[];
  childTwice: string[];
} {
  const made = new Map(
    events.filter(({ state }) => state === 'CREATED').map(({ transaction, at }) => [transaction, at]),
  );
  const ended = new Map(
    events.filter(({ state }) => state !== 'CREATED').map((event) => [event.transaction, event]),
  );
  /** When a transaction no longer answers for a new one. A committed one does so for as long as its records are valid. */
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
