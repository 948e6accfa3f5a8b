import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Document } from 'openapi-backend';
import {
  generatePrivateKey,
  generateSharedSecret,
  readPrivateKey,
  readSharedSecret,
} from '#lib/config/secret-values.ts';
import { createDatabase, type Database, type Queries } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { fail } from '#lib/errors/fail.ts';
import { type AccordEvent, eachReplica } from '#lib/events/event-bus.ts';
import { createMemoryRateLimiter, defaultRateLimits, type RateLimits } from '#lib/http/rate-limits.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { type AuthOptions, type AuthService, composeAuth } from '../../../services/auth/compose.ts';
import { contractFetch, readContract } from '../contract/contract.ts';
import { createTestBus } from '../stores/event-bus.ts';
import { createTestDatabase } from '../stores/postgres.ts';
import { settingsOf } from './settings-of.ts';

/** The auth service with its own database, behind a real HTTP server. */
export interface AuthUnderTest {
  baseUrl: string;
  authUrl: string;
  auth: AuthService;
  /** The link for the first administrator that the last start returned. */
  setupLink: string | undefined;
  db: Database;
  databaseUrl: string;
  secrets: AuthOptions['secrets'];
  /** Events published on accord.keys. */
  events: AccordEvent[];
  /** All log lines. */
  logged(): string;
  /** Fetches a path and checks the response against the contract. */
  fetch: ReturnType<typeof contractFetch>;
  /** Requests a token. @param path another path of the token endpoint. */
  askToken(
    fields: Record<string, string>,
    path?: string,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** An access token from the password grant; the default password is that of demo accounts. */
  tokenOf(username: string, password?: string): Promise<string>;
  /** Restarts the service with the same database and URL. */
  restart(changes?: Changes): Promise<void>;
  /** Makes the database unavailable for the service, or available again. */
  cutOff(away: boolean): void;
  stop(): Promise<void>;
}

const contract = readContract();

/** Changes to the defaults. */
export interface Changes {
  settings?: Partial<AuthOptions['settings']>;
  limits?: RateLimits;
  secrets?: Partial<AuthOptions['secrets']>;
  /** Sends its mails; by default there is no mail server. */
  transport?: AuthOptions['transport'];
}

/** Generates secrets as a first start does. */
function drawSecrets(): AuthOptions['secrets'] {
  return {
    keyPepper: [readSharedSecret(generateSharedSecret())],
    issuerCookies: [readSharedSecret(generateSharedSecret())],
    issuerSigning: [readPrivateKey(generatePrivateKey())],
    consoleClient: [generateSharedSecret()],
  };
}

/** Starts the service, by default in demo mode with high rate limits. */
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
    baseUrl,
    db,
    events,
    databaseUrl: database.url,
    secrets: { ...base.secrets, ...changes.secrets },
    authUrl: changes.settings?.authUrl ?? `${baseUrl}/auth`,
    auth: await compose(changes),
    setupLink: undefined,
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
      under.setupLink = await under.auth.start();
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
  under.setupLink = await under.auth.start();
  return under;
}

function optionsFor(
  baseUrl: string,
  base: Pick<AuthOptions, 'db' | 'bus' | 'log' | 'secrets'>,
  {
    settings,
    limits = { ...defaultRateLimits, address: 10_000, user: 10_000 },
    secrets,
    transport = null,
  }: Changes,
): AuthOptions {
  return {
    ...base,
    secrets: { ...base.secrets, ...secrets },
    transport,
    document: contract as unknown as Document,
    limiter: createMemoryRateLimiter(limits),
    instance: settingsOf(baseUrl).instance,
    settings: {
      authUrl: `${baseUrl}/auth`,
      passwordGrant: true,
      secondFactor: false,
      consolePath: '/console',
      demo: true,
      outsideIssuer: null,
      corsOrigins: [],
      trustedProxies: [],
      ...settings,
    },
  };
}

/** A database that can be made unavailable. */
function interruptible(db: Database, isAway: () => boolean): Database {
  const guard =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      isAway()
        ? Promise.reject(
            fail('unavailable', 'The database is unavailable.', { headers: { 'Retry-After': '1' } }),
          )
        : work(...args);
  return {
    query: guard(db.query) as Queries['query'],
    one: guard(db.one) as Queries['one'],
    maybeOne: guard(db.maybeOne) as Queries['maybeOne'],
    withTransaction: guard(db.withTransaction) as Database['withTransaction'],
  };
}
