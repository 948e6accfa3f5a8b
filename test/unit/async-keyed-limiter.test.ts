import { expect, it } from 'vitest';
import { createKeyedLimiter } from '#lib/async/keyed-limiter.ts';

const forever = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Work in a limiter of two per key and three in total. */
function startWork() {
  const limiter = createKeyedLimiter({ perKey: 2, total: 3 });
  const running: string[] = [];
  const leaves = new Map<string, () => void>();
  const enter = async (name: string, signal = forever) => {
    const leave = await limiter.enter(name[0] as string, signal);
    running.push(name);
    leaves.set(name, () => {
      running.splice(running.indexOf(name), 1);
      leave();
    });
  };
  return { enter, running, leave: (name: string) => leaves.get(name)?.() };
}

it('work of one key runs up to its limit, and work of all keys up to the total', async () => {
  const { enter, running } = startWork();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) void enter(name);
  await settled();
  expect(running).toEqual(['a1', 'a2', 'b1']);
});

it('what waits enters first come, first served; a key at its limit holds up no other', async () => {
  const { enter, running, leave } = startWork();
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void enter(name);
  await settled();
  leave('b1');
  await settled();
  expect(running).toEqual(['a1', 'a2', 'b2']);
  leave('a1');
  await settled();
  expect(running).toEqual(['a2', 'b2', 'a3']);
  leave('a2');
  await settled();
  expect(running).toEqual(['b2', 'a3', 'c1']);
});

it('what gives up while it waits gets the reason, and takes no slot', async () => {
  const { enter, running, leave } = startWork();
  for (const name of ['a1', 'a2', 'b1']) void enter(name);
  const patience = new AbortController();
  const impatient = enter('a3', patience.signal);
  void enter('c1');
  patience.abort(new Error('too late'));
  await expect(impatient).rejects.toThrow('too late');
  await expect(enter('d1', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  leave('a1');
  await settled();
  expect(running).toEqual(['a2', 'b1', 'c1']);
  for (const name of ['a2', 'b1', 'c1']) leave(name);
  for (const name of ['e1', 'e2', 'f1']) void enter(name);
  await settled();
  expect(running).toEqual(['e1', 'e2', 'f1']);
});

it('keys take turns, however much work one of them has waiting', async () => {
  const limiter = createKeyedLimiter({ perKey: 1, total: 1 });
  const order: string[] = [];
  const work = async (name: string) => {
    const leave = await limiter.enter(name[0] as string, forever);
    order.push(name);
    await settled();
    leave();
  };
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(work));
  expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('the longest line loses its newest if too much work waits', async () => {
  const limiter = createKeyedLimiter({ perKey: 1, total: 1, maxWaiting: 3 });
  const outcomes: string[] = [];
  const enter = (name: string) =>
    limiter.enter(name[0] as string, forever).then(
      () => outcomes.push(`${name} entered`),
      (error) => outcomes.push(`${name} ${error.name}`),
    );
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'b1']) void enter(name);
  await settled();
  expect(outcomes).toEqual(['a1 entered', 'a5 TooManyWaiting', 'a4 TooManyWaiting']);
});
