import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AccordEvent, EventHandler, Reader } from '#lib/events/event-bus.ts';
import { createVersionsCache } from '../../services/transactions/decisions/decide.ts';
import { sampleEvent } from '../support/samples/sample-events.ts';

let now = 1;
const pass = (ms: number) => {
  now += ms;
  vi.advanceTimersByTime(ms);
};
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A replica's cache, the questions that it has passed on to forms, and its reader of events. */
function replica() {
  const versionsAt = vi.fn(async () => ({ versions: {}, purposes: {} }));
  const readers: { topic: string; reader: Reader; handler: EventHandler }[] = [];
  const subscribe = (topic: string, reader: Reader, handler: EventHandler) =>
    void readers.push({ topic, reader, handler });
  const read = createVersionsCache({ forms: { versionsAt }, bus: { subscribe } });
  const [subscription] = readers;
  if (!subscription) throw new Error('the cache reads no events');
  return { ask: () => read({ keys: ['processing.001'], purposes: [] }), versionsAt, ...subscription };
}

const changed = (name: string): AccordEvent =>
  sampleEvent({ type: `io.accord.model.${name}.v1`, subject: randomUUID() });

it('what forms said of versions is asked anew after a second', async () => {
  const { ask, versionsAt } = replica();
  await ask();
  pass(999);
  await ask();
  expect(versionsAt).toHaveBeenCalledTimes(1);
  pass(2);
  await ask();
  expect(versionsAt).toHaveBeenCalledTimes(2);
});

it('each replica drops it when a model has changed, and when events may have been missed', async () => {
  const { ask, versionsAt, topic, reader, handler } = replica();
  expect({ topic, shared: reader.shared }).toEqual({ topic: 'accord.models', shared: false });
  await ask();
  await handler(changed('activated'), 0);
  await ask();
  expect(versionsAt).toHaveBeenCalledTimes(2);
  reader.onGap();
  await ask();
  await ask();
  expect(versionsAt).toHaveBeenCalledTimes(3);
});

it('what is asked while a model changes is not kept beyond the change', async () => {
  const { ask, versionsAt, handler } = replica();
  const first = ask();
  await handler(changed('archived'), 0);
  await first;
  await ask();
  expect(versionsAt).toHaveBeenCalledTimes(2);
});
