import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll } from 'vitest';
import { loadSecrets, type Secrets } from '#lib/config/secrets.ts';
import { listen } from '#lib/http/listen.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { composeInstance } from '../../../services/compose-instance.ts';
import { readInstanceSettings } from '../../../services/settings.ts';
import { contractFetch } from '../contract/contract.ts';
import { createTestDatabase } from '../stores/postgres.ts';

/** Real secrets, an instance's own. */
async function drawSecrets(): Promise<Secrets> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-test-secrets-'));
  try {
    return await loadSecrets({ folder, generate: true });
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Fetch = ReturnType<typeof contractFetch>;

/**
 * A whole instance in this process: real HTTP, real PostgreSQL of its own, every response checked against the
 * contract.
 */
export interface TestInstance {
  url: string;
  /** A connection string of the instance's database. */
  databaseUrl: string;
  /** What tokens and receipts are signed with, for those that are almost right. */
  secrets: Secrets;
  /** Fetches a path or URL of the instance and checks the response against the contract. */
  fetch: Fetch;
  /** Every line that the instance has logged. */
  logs(): string;
  /** What `/metrics` says. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts an instance in demo mode on a clone of the migrated template.
 * @param environment settings that differ. @param known secrets; otherwise they are drawn.
 */
export async function startTestInstance(
  environment: Record<string, string> = {},
  known?: Secrets,
): Promise<TestInstance> {
  const [database, secrets] = await Promise.all([createTestDatabase(), known ?? drawSecrets()]);
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const settings = readInstanceSettings({
    PORT: '0',
    RATE_LIMITS: 'off',
    // How busy the machine is decides no test but those of the guard itself.
    MAX_IN_FLIGHT: '0',
    MAX_EVENT_LOOP_DELAY: '0',
    DATABASE_URL: database.url,
    ...environment,
  });
  let handle: Parameters<typeof listen>[0] = (_request, response) => void response.writeHead(503).end();
  const listener = await listen((request, response) => handle(request, response), {
    host: settings.HOST,
    port: settings.PORT,
  });
  const url = settings.BASE_URL ?? `http://localhost:${listener.port}`;
  const services = await composeInstance({
    settings,
    baseUrl: url,
    databaseUrl: environment.DATABASE_URL ?? database.url,
    secrets,
    log: createLogger({ level: 'info', destination }),
  });
  await services.start();
  handle = services.handle;
  return {
    url,
    databaseUrl: database.url,
    secrets,
    fetch: contractFetch(url),
    logs: () => lines.join(''),
    metrics: async () => (await services.runtime.shared.metrics.read()).body,
    async stop() {
      await listener.close(2_000);
      await services.stop();
      await services.runtime.stop();
      await database.drop();
    },
  };
}

/**
 * Starts an instance before the tests of a file and stops it after them.
 * @param environment settings that differ. @returns the instance, usable in tests and hooks.
 */
export function useInstance(environment: Record<string, string> = {}): TestInstance {
  const instance = useSetup(() => startTestInstance(environment));
  afterAll(() => instance.stop?.());
  return instance;
}

/** Creates an object before the tests of a file. @returns the object, usable in tests and later hooks. */
export function useSetup<T extends object>(create: () => Promise<T>): T {
  const created = {} as T;
  beforeAll(async () => {
    Object.assign(created, await create());
  });
  return created;
}
