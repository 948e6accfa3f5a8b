import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Document } from 'openapi-backend';
import { generatePrivateKey, readPrivateKey } from '#lib/config/private-key.ts';
import { generateSharedSecret, readSharedSecret } from '#lib/config/shared-secret.ts';
import { createDatabase, type Database, type Queries } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { fail } from '#lib/errors/fail.ts';
import type { AccordEvent } from '#lib/events/event.ts';
import { eachReplica } from '#lib/events/reader.ts';
import { createMemoryRateLimiter, defaultRateLimits, type RateLimits } from '#lib/http/rate-limits.ts';
import { createLogger } from '#lib/observability/logger.ts';
import type { AuthOptions } from '../../../services/auth/auth-options.ts';
import { type AuthService, composeAuth } from '../../../services/auth/compose.ts';
import { contractFetch, readContract } from '../contract/contract.ts';
import { createTestBus } from '../stores/event-bus.ts';
import { createTestDatabase } from '../stores/postgres.ts';

/** The auth service on a database of its own, behind a real HTTP server. */
export interface AuthUnderTest {
  baseUrl: string;
  authUrl: string;
  auth: AuthService;
  db: Database;
  databaseUrl: string;
  secrets: AuthOptions['secrets'];
  /** Events of accord.keys that other services got. */
  events: AccordEvent[];
  /** Everything that was logged. */
  logged(): string;
  /** Fetches a path and checks the response against the contract. */
  fetch: ReturnType<typeof contractFetch>;
  /** Asks the token endpoint. @param path another of its addresses. */
  askToken(
    fields: Record<string, string>,
    path?: string,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** An access token by the password grant; of a demo account unless a password is given. */
  tokenOf(username: string, password?: string): Promise<string>;
  /** Makes the service anew on the same database and address, as a restart would. */
  restart(changes?: Changes): Promise<void>;
  /** Has the database out of reach for the service, or back again. */
  cutOff(away: boolean): void;
  stop(): Promise<void>;
}

const contract = readContract();

/** What a test has otherwise than the default. */
export interface Changes {
  settings?: Partial<AuthOptions['settings']>;
  limits?: RateLimits;
  secrets?: Partial<AuthOptions['secrets']>;
}

/** Makes secrets as a first start does. */
function drawSecrets(): AuthOptions['secrets'] {
  return {
    keyPepper: [readSharedSecret(generateSharedSecret())],
    issuerCookies: [readSharedSecret(generateSharedSecret())],
    issuerSigning: [readPrivateKey(generatePrivateKey())],
  };
}

/** Starts the service in demo mode with generous limits, unless told otherwise. */
export async function startAuth(changes: Changes = {}): Promise<AuthUnderTest> {
  const database = await createTestDatabase();
  let handle: ReturnType<AuthService['app']['callback']> | undefined;
  const server = createServer((request, response) => void handle?.(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const baseUrl = `http://localhost:${(server.address() as AddressInfo).port}`;
  const sink = new PassThrough();
  let logged = '';
  sink.setEncoding('utf8').on('data', (chunk) => {
    logged += chunk;
  });
  const log = createLogger({ level: 'info', destination: sink });
  const pool = createPool({ url: database.url, schema: 'auth', log });
  const db = createDatabase({ pool });
  let away = false;
  const serviceDb = interruptible(db, () => away);
  const bus = createTestBus(log);
  const events: AccordEvent[] = [];
  bus.subscribe(
    'accord.keys',
    eachReplica('test', () => {}),
    async (event) => void events.push(event),
  );
  const base = { secrets: drawSecrets(), db: serviceDb, bus, log };
  const compose = (wanted: Changes) => composeAuth(optionsFor(baseUrl, base, wanted));
  const under: AuthUnderTest = {
    ...{ baseUrl, db, events, databaseUrl: database.url, secrets: { ...base.secrets, ...changes.secrets } },
    authUrl: changes.settings?.authUrl ?? `${baseUrl}/auth`,
    auth: await compose(changes),
    logged: () => logged,
    fetch: contractFetch(baseUrl),
    askToken: (fields, path = '/auth', headers = {}) =>
      under.fetch(path, { method: 'POST', headers, body: new URLSearchParams(fields) }),
    async tokenOf(username, password = 'demo') {
      const fields = { grant_type: 'password', client_id: 'cmclient', username, password };
      const response = await under.askToken(fields);
      if (response.status !== 200) throw new Error(`no token for ${username}: ${await response.text()}`);
      return ((await response.json()) as { access_token: string }).access_token;
    },
    cutOff(wanted) {
      away = wanted;
    },
    async restart(next = {}) {
      await under.auth.stop();
      under.auth = await compose(next);
      handle = under.auth.app.callback();
      await under.auth.start();
    },
    async stop() {
      await new Promise((done) => {
        server.close(done);
        server.closeAllConnections();
      });
      await under.auth.stop();
      await pool.end();
      await database.drop();
    },
  };
  handle = under.auth.app.callback();
  await under.auth.start();
  return under;
}

function optionsFor(
  baseUrl: string,
  base: Pick<AuthOptions, 'db' | 'bus' | 'log' | 'secrets'>,
  { settings, limits = { ...defaultRateLimits, address: 10_000, user: 10_000 }, secrets }: Changes,
): AuthOptions {
  return {
    ...base,
    secrets: { ...base.secrets, ...secrets },
    document: contract as unknown as Document,
    limiter: createMemoryRateLimiter(limits),
    instance: { name: 'Accord', baseUrl },
    settings: {
      authUrl: `${baseUrl}/auth`,
      passwordGrant: true,
      demo: true,
      defaultLanguage: 'en',
      outsideIssuer: null,
      corsOrigins: [],
      trustedProxies: [],
      ...settings,
    },
  };
}

/** A database that fails as an unreachable one does, while it is told to. */
function interruptible(db: Database, isAway: () => boolean): Database {
  const guard =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      isAway()
        ? Promise.reject(fail('unavailable', 'The database is away.', { headers: { 'Retry-After': '1' } }))
        : work(...args);
  return {
    query: guard(db.query) as Queries['query'],
    one: guard(db.one) as Queries['one'],
    maybeOne: guard(db.maybeOne) as Queries['maybeOne'],
    withTransaction: guard(db.withTransaction) as Database['withTransaction'],
  };
}
