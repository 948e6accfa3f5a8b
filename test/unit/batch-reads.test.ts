import { expect, it } from 'vitest';
import type { ReleasedPart } from '#lib/contracts/transactions.ts';
import { readAhead } from '../../services/peers/commands/attempt-delivery.ts';

/** A stand-in for transactions. @param fitting parts per answer. @param nothing sids without a part. */
function standIn(fitting: number, nothing: readonly string[] = []) {
  const calls: string[][] = [];
  const part = (sid: string) => ({ location: sid }) as ReleasedPart;
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

it('reads parts that are sent soon after each other with one call', async () => {
  const transactions = standIn(10, ['b']);
  const read = readAhead(transactions, ['a', 'b', 'c']);
  expect([await read('a'), await read('b'), await read('c')]).toEqual([
    { location: 'a' },
    null,
    { location: 'c' },
  ]);
  expect(transactions.calls).toEqual([['a', 'b', 'c']]);
});

it('reads a part that did not fit into the answer in its turn, with the remaining parts', async () => {
  const transactions = standIn(2);
  const read = readAhead(transactions, ['a', 'b', 'c', 'd']);
  for (const sid of ['a', 'b', 'c', 'd']) expect(await read(sid)).toEqual({ location: sid });
  expect(transactions.calls).toEqual([
    ['a', 'b', 'c', 'd'],
    ['c', 'd'],
  ]);
});
