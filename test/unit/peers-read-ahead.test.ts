import { expect, it } from 'vitest';
import type { ReleasedSubmission } from '#lib/contracts/transactions.ts';
import { readAhead } from '../../services/peers/commands/read-ahead.ts';

/** Transactions that gives so many parts in one answer; of those that have none it says so. */
function standIn(fitting: number, nothing: readonly string[] = []) {
  const calls: string[][] = [];
  const part = (sid: string) => ({ location: sid }) as ReleasedSubmission;
  return {
    calls,
    async readSubmissions({ sids }: { sids: string[] }) {
      calls.push(sids);
      return Object.fromEntries(
        sids.slice(0, fitting).map((sid) => [sid, nothing.includes(sid) ? null : part(sid)]),
      );
    },
  };
}

it('parts that are sent one after the other are read with one call', async () => {
  const transactions = standIn(10, ['b']);
  const read = readAhead(transactions, ['a', 'b', 'c']);
  expect([await read('a'), await read('b'), await read('c')]).toEqual([
    { location: 'a' },
    null,
    { location: 'c' },
  ]);
  expect(transactions.calls).toEqual([['a', 'b', 'c']]);
});

it('what did not fit in an answer is asked for when its turn comes, with what is left', async () => {
  const transactions = standIn(2);
  const read = readAhead(transactions, ['a', 'b', 'c', 'd']);
  for (const sid of ['a', 'b', 'c', 'd']) expect(await read(sid)).toEqual({ location: sid });
  expect(transactions.calls).toEqual([
    ['a', 'b', 'c', 'd'],
    ['c', 'd'],
  ]);
});
