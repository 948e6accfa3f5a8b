import { defineConfig } from 'vitest/config';
import { patience } from './test/support/patience.ts';

/** Conditions are waited for as long as a busy machine needs; tests that do more than others say so themselves. */
const waits = { testTimeout: 60_000, hookTimeout: 60_000, expect: { poll: patience } };

/**
 * kafkajs 2.2.4 sets a timer for the time that is left until a throttle ends, also when there is none (RequestQueue.scheduleCheckPendingRequests): Node.js
 * takes 1 ms for the negative number, and warns. No option of kafkajs avoids it.
 */
const execArgv = ['--disable-warning=TimeoutNegativeWarning'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/postgres-setup.ts'],
    // Processes, not threads: what a test starts ends with the thread or process that started it.
    pool: 'forks',
    // A test waits for its servers half of the time; with more workers than this the servers would wait for the tests.
    // A Kafka from outside is one for all, so its tests run one after the other.
    maxWorkers: process.env.KAFKA_BROKERS ? 1 : 2,
    projects: [
      {
        test: {
          name: 'fast',
          execArgv,
          include: ['test/{unit,service,contract,integration,security}/**/*.test.ts'],
          ...waits,
        },
      },
      {
        // Its own Kafka starts with it, so the others do not wait for one.
        test: {
          name: 'kafka',
          execArgv,
          include: ['test/kafka/**/*.test.ts'],
          globalSetup: ['test/support/kafka-setup.ts'],
          ...waits,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          ...waits,
        },
      },
      {
        test: {
          name: 'chaos',
          execArgv,
          include: ['test/chaos/**/*.test.ts'],
          ...waits,
          testTimeout: 300_000,
        },
      },
    ],
  },
});
