import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import type { Queries } from '#lib/db/database.ts';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createPool } from '#lib/db/pool.ts';
import { compile, type Statement } from '#lib/db/sql.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { type BaselineSamples, createBaselineSteps } from './baseline-steps.ts';

// What a flow costs without Accord: Koa, pg, Accord's SQL statements with the same parameters, and constant strings for pages.
// No validation, no rights, no tokens, no negotiation, no rendering, no signature.

const { form, final } = JSON.parse(readFileSync(process.env.SAMPLES as string, 'utf8')) as BaselineSamples;
// The form is posted to the address that it was had from, not to that of the sample, which is answered already.
const samples = { form: form.replace('method="post" action=', 'method="post" not-to='), final };
const log = createLogger({ level: 'warn' });
const postgres = await openPostgres();
const pools = {
  forms: createPool({ url: postgres.connectionString, schema: 'forms', log }),
  transactions: createPool({ url: postgres.connectionString, schema: 'transactions', log }),
};
const db = queriesOf(pools.transactions);
const relay = createOutboxRelay({
  db: { ...db, withTransaction: async (work) => work(db) },
  bus: {
    publish: async () => [],
    canLose: false,
    onTopicLost: () => {},
    taken: async () => new Map(),
    gatherMs: 0,
  },
  log,
});
const steps = await createBaselineSteps({ db, forms: queriesOf(pools.forms), samples });

const app = new Koa();
app.use(async (ctx) => {
  const [, , id = '', task] = ctx.path.split('/');
  switch (`${ctx.method} ${id === '' ? 'consents' : (task ?? 'transaction')}`) {
    case 'POST consents': {
      const created = await steps.create(JSON.parse(await readText(ctx.req)));
      relay.wake();
      ctx.status = 201;
      ctx.set('Location', `http://${ctx.host}/consents/${created.id}`);
      ctx.body = created;
      return;
    }
    case 'GET transaction': {
      const page = await steps.open(id);
      if (page) {
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

/** Statements as they are, on any connection that is free. */
function queriesOf(pool: ReturnType<typeof createPool>): Queries {
  const query = async <T>(statement: Statement) => (await pool.query(compile(statement))).rows as T[];
  return {
    query,
    maybeOne: async <T>(statement: Statement) => (await query<T>(statement))[0],
    one: async <T>(statement: Statement) => (await query<T>(statement))[0] as T,
  };
}
