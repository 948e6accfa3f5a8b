import { Writable } from 'node:stream';
import { generatePrivateKey, type PrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { fail } from '#lib/errors/fail.ts';
import { createMemoryRateLimiter } from '#lib/http/rate-limits.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createMetrics } from '#lib/observability/metrics.ts';
import { composeForms } from '../../../services/forms/compose.ts';
import { composeTransactions } from '../../../services/transactions/compose.ts';
import { readContract } from '../contract/contract.ts';
import { createTestBus } from '../stores/event-bus.ts';
import { type Caller, signIn } from './callers.ts';
import { startTestInstance, type TestInstance } from './instance.ts';
import { settingsOf } from './settings-of.ts';

type Operations = Pick<
  TransactionsOperations,
  'acceptSubmission' | 'decideSubmission' | 'withdrawSubmission' | 'eraseSubmission'
>;

/**
 * An instance that peers send answers to, and replicas of its services on its database whose operations a
 * test can call.
 */
const messageSettings = {
  codeTtl: 600,
  resendAfter: 30,
  limits: { codes: 10, messages: 20, prefix: 60, sms: 100, mails: 5_000, creator: 2_500 },
};

export interface OwnerInstance extends TestInstance {
  admin: Caller;
  /** Of transactions. */
  db: Database;
  /** A sealing key of the replicas that is about to be replaced. */
  formerSealingKey: PrivateKey;
  one: Operations;
  other: Operations;
  /** Shares an element with everybody, or with peers of these ids; `shared: false` takes it back. */
  share(key: string, changes?: { shared?: boolean; sharedWith?: string[] }): Promise<void>;
  /** Does something while the replicas cannot ask forms about answers. */
  withoutForms(work: () => Promise<void>): Promise<void>;
  /** What the replicas have logged. */
  logs(): string;
  /** What `/metrics` of the replicas says. */
  metrics(): Promise<string>;
}

type Entry = components['schemas']['Entry'];

const auth = { introspect: async () => ({ result: 'none' }) } as unknown as AuthOperations;

/** The name of the replicas' connections. */
export const replicaConnections = 'owner-replica';

/** What a test holds up is waited for longer than the busiest machine takes. */
function patientUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', replicaConnections);
  for (const name of ['lock_timeout', 'statement_timeout', 'query_timeout'])
    url.searchParams.set(name, '60000');
  return url.href;
}

export async function startOwner(environment: Record<string, string> = {}): Promise<OwnerInstance> {
  const instance = await startTestInstance({ INSTANCE_NAME: 'Research lab', ...environment });
  const admin = await signIn(instance, 'admin');
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLogger({ destination });
  const metrics = createMetrics();
  const pools: { end(): Promise<void> }[] = [];
  const open = (schema: string) => {
    const pool = createPool({ url: patientUrl(instance.databaseUrl), schema, log });
    pools.push(pool);
    return createDatabase({ pool });
  };
  const db = open('transactions');
  const formerSealingKey = readPrivateKey(generatePrivateKey());
  let isFormsAway = false;
  const replica = async (): Promise<Operations> => {
    const liveSettings = settingsOf(instance.url, 'Research lab');
    const shared = {
      log,
      auth,
      bus: createTestBus(log),
      limiter: createMemoryRateLimiter('off'),
      document: readContract() as never,
      metrics,
      instance: liveSettings.instance,
      liveSettings,
    };
    const settings = { corsOrigins: [], trustedProxies: [] };
    const forms = await composeForms({
      ...shared,
      db: open('forms'),
      settings: {
        ...settings,
        authUrl: '',
        publicClient: null,
        issuer: { url: instance.url, builtIn: true },
        consolePath: null,
        staleDays: 30,
      },
      demo: null,
    });
    const checkSubmission: typeof forms.operations.checkSubmission = async (input) => {
      if (isFormsAway) throw fail('unavailable', 'Forms cannot be asked.');
      return forms.operations.checkSubmission(input);
    };
    const { transactionToken, instanceSigning, instanceSealing, documentSealing, erasurePepper } =
      instance.secrets;
    const transactions = await composeTransactions({
      ...shared,
      db,
      forms: { ...forms.operations, checkSubmission },
      settings: {
        ...settings,
        embedOrigins: '',
        sweepMs: 1_000,
        expiryNoticeDays: 30,
        ...messageSettings,
      },
      transports: { mail: null, sms: null },
      senders: { mail: { senders: [] }, sms: { senders: [] } },
      tokenSecrets: transactionToken,
      signingKey: instanceSigning[0] as (typeof instanceSigning)[number],
      sealingKeys: [...instanceSealing, formerSealingKey],
      erasurePeppers: erasurePepper,
      documentKeys: documentSealing,
    });
    return transactions.operations;
  };
  const [one, other] = await Promise.all([replica(), replica()]);
  return {
    ...instance,
    admin,
    db,
    formerSealingKey,
    one,
    other,
    async share(key, changes = {}) {
      const entry = (await (await admin.get(`/models/serials/${key}`)).json()) as Entry;
      const wanted = { name: entry.name, shared: true, sharedWith: [], ...changes };
      const changed = await admin.send('PUT', `/models/${entry.id}`, wanted);
      if (!changed.ok) throw new Error(`${key} is not shared: ${await changed.text()}`);
    },
    async withoutForms(work) {
      isFormsAway = true;
      await work().finally(() => {
        isFormsAway = false;
      });
    },
    logs: () => lines.join(''),
    metrics: async () => (await metrics.read()).body,
    async stop() {
      await Promise.all(pools.map((pool) => pool.end()));
      await instance.stop();
    },
  };
}
