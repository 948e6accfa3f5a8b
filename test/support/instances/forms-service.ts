import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { type AccordEvent, eachReplica } from '#lib/events/event-bus.ts';
import { listen } from '#lib/http/listen.ts';
import { createMemoryRateLimiter } from '#lib/http/rate-limits.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { composeForms } from '../../../services/forms/compose.ts';
import { contractFetch, readContract } from '../contract/contract.ts';
import { createTestBus } from '../stores/event-bus.ts';
import { createTestDatabase } from '../stores/postgres.ts';
import { settingsOf } from './settings-of.ts';

/** The forms service alone, on a database of its own, with every response checked against the contract. */
export interface FormsService {
  db: Database;
  /** A connection string of its database, which has the schemas of the other services too. */
  databaseUrl: string;
  operations: FormsOperations;
  baseUrl: string;
  /** Events that have left the outbox. */
  events: AccordEvent[];
  /** Sends a request as somebody. @param init.as admin by default. */
  send(path: string, init?: RequestInit & { as?: Caller; json?: unknown }): Promise<FormsResponse>;
  stop(): Promise<void>;
}

/** The members that this service's answers have, in one type: a test looks at those of its own answer. */
export interface FormsAnswer {
  id: string;
  key: string;
  status: string;
  serial: string;
  default: boolean;
  versions: FormsAnswer[];
  data: Record<string, Record<string, unknown>>;
  values: FormsAnswer[];
  totalCount: number;
  next?: string;
  errors: { pointer: string; code: string }[];
  faults?: { pointer: string; code: string }[];
  minor: { allowed: boolean; errors: { pointer: string; code: string }[] };
  layouts: string[];
  logoPath: string;
  servers: { url: string }[];
}

/** A response whose JSON is known to come from this service. */
export type FormsResponse = Omit<Response, 'json'> & { json(): Promise<FormsAnswer> };

export type Caller = 'admin' | 'operator' | 'user' | 'key' | 'nobody';

const roles: Record<Exclude<Caller, 'nobody'>, Principal['roles']> = {
  admin: ['admin', 'operator', 'user'],
  operator: ['operator', 'user'],
  user: ['user'],
  key: ['key'],
};

/** Believes whoever says who they are. */
const auth: Pick<AuthOperations, 'introspect'> = {
  async introspect({ authorization, apiKey }) {
    const name = apiKey ?? authorization?.replace('Bearer ', '') ?? '';
    if (!Object.hasOwn(roles, name)) return { result: 'bad-authorization' };
    return { result: 'principal', principal: { roles: roles[name as 'admin'], name, account: name } };
  },
};

export const formsBaseUrl = 'http://forms.test';

export async function startForms({ demo = false } = {}): Promise<FormsService> {
  const database = await createTestDatabase();
  const log = createLogger({ level: 'error' });
  const pool = createPool({ url: database.url, schema: 'forms', log });
  const db = createDatabase({ pool });
  const bus = createTestBus(log);
  const events: AccordEvent[] = [];
  bus.subscribe(
    'accord.models',
    eachReplica('test', () => {}),
    async (event) => void events.push(event),
  );
  const document = readContract();
  const liveSettings = settingsOf(formsBaseUrl);
  const service = await composeForms({
    db,
    bus,
    log,
    auth,
    limiter: createMemoryRateLimiter('off'),
    document: document as never,
    instance: liveSettings.instance,
    liveSettings,
    settings: {
      corsOrigins: [],
      trustedProxies: [],
      authUrl: `${formsBaseUrl}/auth`,
      publicClient: 'accord',
      issuer: { url: `${formsBaseUrl}/auth`, builtIn: true },
      consolePath: '/console',
      staleDays: 30,
    },
    demo: demo
      ? {
          formUrl: async () => `${formsBaseUrl}/consents/demo`,
          tokenUrl: `${formsBaseUrl}/auth`,
          accounts: [{ username: 'admin', password: 'demo', role: 'admin' }],
        }
      : null,
  });
  const listener = await listen(service.app.callback(), { host: '127.0.0.1', port: 0 });
  await service.start();
  const baseUrl = `http://127.0.0.1:${listener.port}`;
  const request = contractFetch(baseUrl);
  return {
    db,
    databaseUrl: database.url,
    operations: service.operations,
    baseUrl,
    events,
    async send(path, { as = 'admin', json, headers, ...init } = {}) {
      const own = new Headers(headers);
      if (as === 'key') own.set('CM_KEY', as);
      else if (as !== 'nobody') own.set('Authorization', `Bearer ${as}`);
      if (json !== undefined) own.set('Content-Type', 'application/json');
      const body = json === undefined ? init.body : JSON.stringify(json);
      const response = await request(path.replace(formsBaseUrl, ''), { ...init, headers: own, body });
      return response as unknown as FormsResponse;
    },
    async stop() {
      await service.stop();
      await listener.close(1_000);
      await pool.end();
      await database.drop();
    },
  };
}
