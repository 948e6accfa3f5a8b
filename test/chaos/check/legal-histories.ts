import type { Check } from './evidence.ts';

/** From each state, where one may go (docs/interface.md, "States"); written down once more, so that a fault in the code's own table shows. */
const legal: Record<string, readonly string[]> = {
  '': ['CREATED'],
  CREATED: ['COMMITTED', 'SUBMITTED', 'CANCELLED', 'TIMEOUT'],
  SUBMITTED: ['COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'],
};

/** I4: versions without gaps, each step legal, the last one where the transaction is. */
export const historiesAreLegal: Check = ({ stored }) => {
  const byTransaction = Map.groupBy(stored.versions, ({ transaction }) => transaction);
  return stored.transactions.flatMap(({ id, state, version }) => {
    const versions = (byTransaction.get(id) ?? []).sort((a, b) => a.version - b.version);
    const numbers = versions.map((each) => each.version);
    if (numbers.length !== version || numbers.some((number, index) => number !== index + 1))
      return [`${id} is at version ${version}, and its history has ${numbers.join()}`];
    const path = ['', ...versions.map((each) => each.state)];
    if (path.some((to, index) => index > 0 && !legal[path[index - 1] as string]?.includes(to)))
      return [`${id} went ${path.slice(1).join(' → ')}`];
    return path.at(-1) === state ? [] : [`${id} is ${state}, and its history ends with ${path.at(-1)}`];
  });
};
