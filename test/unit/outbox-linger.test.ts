import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Database } from '#lib/db/database.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { sampleEvent } from '../support/samples/sample-events.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A relay that finds so many rows each time that it looks, and is told all the time that there are more. */
function startRelay(found: number) {
  const rows = Array.from({ length: found }, (_, id) => {
    const event = sampleEvent({ id: `event-${id}` });
    return { id: String(id), topic: 'accord.consents', key: event.subject, event };
  });
  let isMore = true;
  const tx = { query: async () => (isMore ? rows : []) };
  const db = {
    ...tx,
    withTransaction: (work: (each: typeof tx) => unknown) => work(tx),
  } as unknown as Database;
  const publish = vi.fn(async () => []);
  const relay = createOutboxRelay({
    db,
    log: createLogger({ level: 'silent' }),
    bus: {
      publish,
      ...{
        canLose: false,
        lingerMs: 25,
        pausedTopics: () => [],
      },
    },
  });
  relay.start();
  return {
    /** @returns how often it sent something. */
    async turns(ms: number) {
      for (let passed = 0; passed < ms; passed += 1) {
        relay.wake();
        await vi.advanceTimersByTimeAsync(1);
      }
      return publish.mock.calls.length;
    },
    stop: async () => {
      isMore = false;
      const stopped = relay.stop();
      await vi.runAllTimersAsync();
      await stopped;
    },
  };
}

it.each([
  { what: 'a few', found: 1, most: 35, least: 30 },
  { what: 'some', found: 2, most: 29, least: 27 },
  { what: 'many', found: 50, most: 21, least: 19 },
])(
  'the more events come together, the longer the next wait for each other: $what',
  async ({ found, most, least }) => {
    const relay = startRelay(found);
    const sent = await relay.turns(1_000);
    expect(sent).toBeLessThanOrEqual(most);
    expect(sent).toBeGreaterThanOrEqual(least);
    await relay.stop();
  },
);
