import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Database } from '#lib/db/database.ts';
import { createInboxSweeper } from '#lib/events/inbox.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createDeadlineSweeper } from '../../services/transactions/jobs.ts';
import { createOldDeliverySweeper } from '../../services/webhooks/jobs/delete-old.ts';
import { noMessaging } from '../support/instances/no-messaging.ts';
import { openGate } from '../support/run/gate.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const notAsked = async () => {
  throw new Error('A sweep asks for rows.');
};
const log = createLogger({ level: 'silent' });
const others = { log, source: 'https://consent.example.org', wake: () => {}, everyMs: 10_000 };

it.each([
  [
    'that ends what is overdue',
    500,
    (db: Database) => createDeadlineSweeper({ db, messaging: noMessaging, ...others }),
  ],
  ['that forgets applied events', 1_000, (db: Database) => createInboxSweeper({ db, log })],
  [
    'that forgets old deliveries',
    1_000,
    (db: Database) => createOldDeliverySweeper({ db, ...others, wakeRelay: () => {} }),
  ],
])('a sweep %s ends with its process, though there is more to do', async (_name, batch, make) => {
  const gate = openGate();
  const began = openGate();
  let statements = 0;
  const query = async <T>(): Promise<T[]> => {
    statements += 1;
    began.open();
    await gate.passed;
    return new Array<T>(statements < 10 ? batch : 0);
  };
  const queries = { query, one: notAsked, maybeOne: notAsked };
  const sweeper = make({ ...queries, withTransaction: (work) => work(queries) });
  sweeper.start();
  vi.advanceTimersByTime(5 * 60_000);
  await began.passed;
  const stopped = sweeper.stop();
  gate.open();
  await stopped;
  // A round is at most four statements.
  expect(statements).toBeLessThanOrEqual(4);
  const then = statements;
  vi.advanceTimersByTime(60 * 60_000);
  expect(statements).toBe(then);
});
