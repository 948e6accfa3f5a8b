import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createPool } from '#lib/db/pool.ts';
import { createBus } from '#lib/events/in-process-bus.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createCallerTokens } from '#lib/internal/caller-tokens.ts';
import { createInternalClient, readOperations } from '#lib/internal/internal-client.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createMetrics } from '#lib/observability/metrics.ts';
import { type BaselineForms, createBaselineForms } from './baseline-forms.ts';
import { queriesOf, readSamples } from './baseline-parts.ts';
import { createBaselineSteps } from './baseline-steps.ts';

// What a flow costs without Accord: Koa, pg, Accord's SQL statements with the same parameters, and constant
// strings for pages. No validation, no rights, no tokens, no negotiation, no rendering, no signature.

// With FORMS_URL and KAFKA_BROKERS it is divided as Accord is: what is of forms is another process
// (baseline-forms-server.ts), which it calls as Accord's services call each other, and events go to Kafka.

const { FORMS_URL: formsUrl, KAFKA_BROKERS: brokers, CALLER_SECRET: callerSecret = '' } = process.env;
const log = createLogger({ level: 'warn' });
const postgres = await openPostgres();
const pools = {
  forms: createPool({ url: postgres.connectionString, schema: 'forms', log }),
  transactions: createPool({ url: postgres.connectionString, schema: 'transactions', log }),
};
const db = queriesOf(pools.transactions);
const bus = brokers
  ? await createBus({ brokers: brokers.split(','), clientId: 'bare', log, metrics: createMetrics().events })
  : undefined;
const nowhere = {
  publish: async () => [],
  canLose: false,
  lingerMs: 0,
  pausedTopics: () => [],
};
const relay = createOutboxRelay({
  db: { ...db, withTransaction: async (work) => work(db) },
  bus: bus ?? nowhere,
  log,
});
const forms = formsUrl
  ? createInternalClient<BaselineForms>({
      service: 'forms',
      addresses: [formsUrl],
      reads: readOperations.forms,
      tokens: createCallerTokens('transactions', [Buffer.from(callerSecret)]),
    })
  : createBaselineForms({ db: queriesOf(pools.forms), samples: readSamples() });
const steps = await createBaselineSteps({ db, forms });

const sampleElement = 'element/processing/processing.001/1.0';

const app = new Koa();
app.use(async (ctx) => {
  const [, , id = '', task] = ctx.path.split('/');
  const what = id === 'singlestep' ? id : (task ?? 'transaction');
  switch (`${ctx.method} ${id === '' ? 'consents' : what}`) {
    case 'POST consents': {
      const created = await steps.create(JSON.parse(await readText(ctx.req)));
      relay.wake();
      ctx.status = 201;
      ctx.set('Location', `http://${ctx.host}/consents/${created.id}`);
      ctx.body = created;
      return;
    }
    case 'POST singlestep': {
      const { context } = JSON.parse(await readText(ctx.req));
      const { id } = await steps.create(context);
      await steps.submit(String(id), new URLSearchParams({ [sampleElement]: 'accepted' }));
      relay.wake();
      ctx.status = 201;
      ctx.body = { id };
      return;
    }
    case 'GET transaction': {
      const page = await steps.open(id);
      if (page !== undefined) {
        ctx.type = 'html';
        ctx.body = page;
        return;
      }
      ctx.status = 303;
      ctx.set('Location', `http://${ctx.host}/consents/${id}/submit`);
      return;
    }
    case 'GET submit':
      ctx.body = await steps.form(id);
      return;
    case 'POST submit':
      await steps.submit(id, new URLSearchParams(await readText(ctx.req)));
      relay.wake();
      ctx.status = 303;
      ctx.set('Location', `http://${ctx.host}/consents/${id}`);
      return;
    default:
      ctx.status = 404;
  }
});

relay.start();
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  process.stdout.write(`The bare server is ready: http://localhost:${port}\n`);
});
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await relay.stop();
  await bus?.stop();
  await Promise.all(Object.values(pools).map((pool) => pool.end()));
  await postgres.stop();
  process.exit(0);
});

/** The one given, or an embedded one of its own. */
async function openPostgres() {
  const { DATABASE_URL: url, DATA_DIR: dataDir = '' } = process.env;
  if (url) return { connectionString: url, stop: async () => {} };
  return startEmbeddedPostgres({ dataDir, named: true, log });
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
