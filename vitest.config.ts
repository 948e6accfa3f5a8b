import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/run/longest-first.ts';
import { patience } from './test/support/run/patience.ts';

/**
 * Conditions are waited for as long as a busy machine needs; tests that do more than others say so
 * themselves.
 */
const waits = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: patience } };

/**
 * kafkajs 2.2.4 sets a timer for the time that is left until a throttle ends, also when there is none
 * (RequestQueue.scheduleCheckPendingRequests): Node.js takes 1 ms for the negative number, and warns. No
 * option of kafkajs avoids it.
 */
const execArgv = ['--disable-warning=TimeoutNegativeWarning'];

/** What tests and the programs that they start load is compiled once, and kept where `npm start` keeps it. */
const env = { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) };

/**
 * One process for many files: to load the product takes as long as most of them run. What a file changes in
 * its process it restores.
 */
const isolate = false;

/**
 * Node.js loads TypeScript itself: without Vite's module runner the files that have a process of their own
 * take a fifth less time. No test uses `vi.mock`, which would need vitest's loader.
 */
const experimental = { viteModuleRunner: false, nodeLoader: false };

/**
 * Long files that wait for nothing. They have processes of their own so that each can run beside a file that
 * starts a dozen processes: two of those at once keep the processors busy for as long as they last.
 */
const busy = [
  'test/e2e/{console-rooms,pages-axe,subject-pages}.test.ts',
  'test/security/authorisation-matrix.test.ts',
];

/** Before each file. */
const setupFiles = ['test/support/run/no-source-maps.ts'];

export default defineConfig({
  test: {
    experimental,
    globalSetup: ['test/support/run/files-in-memory.ts', 'test/support/stores/postgres-setup.ts'],
    sequence: { sequencer: LongestFirst },
    // Processes, not threads: what a test starts ends with the thread or process that started it.
    pool: 'forks',
    // Two processors are busy with three (a test waits for its servers a third of the time), but where they
    // are slow, what they start no longer answers in time. A Kafka from outside is one for all, so its tests
    // run one after the other.
    maxWorkers: process.env.KAFKA_BROKERS ? 1 : 2,
    projects: [
      {
        test: {
          name: 'shared',
          execArgv,
          env,
          include: ['test/{unit,service,contract,integration,security,e2e}/**/*.test.ts'],
          exclude: busy,
          isolate,
          setupFiles,
          ...waits,
        },
      },
      {
        test: {
          name: 'busy',
          execArgv,
          env,
          include: busy,
          setupFiles,
          ...waits,
        },
      },
      {
        test: {
          name: 'kafka',
          execArgv,
          env,
          include: ['test/kafka/**/*.test.ts'],
          setupFiles,
          ...waits,
        },
      },
      {
        test: {
          name: 'chaos',
          execArgv,
          env,
          include: ['test/chaos/**/*.test.ts'],
          setupFiles,
          ...waits,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
