import Koa from 'koa';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { readAnswersAt } from '../services/transactions/decisions/store.ts';
import { queriesOf } from './baseline-parts.ts';

// A bare server of decisions: Koa, the statement of Accord, and nothing that Accord decides by.

const { DATABASE_URL: url = '' } = process.env;
const db = queriesOf(createPool({ url, schema: 'transactions', log: createLogger({ level: 'warn' }) }));
const app = new Koa();
app.use(async (ctx) => {
  const pieces: Buffer[] = [];
  for await (const piece of ctx.req) pieces.push(piece);
  const { subject, questions } = JSON.parse(Buffer.concat(pieces).toString());
  const probes = questions.map(({ element }: { element: string }) => ({
    subject,
    object: '',
    key: element,
    asOf: undefined,
  }));
  ctx.body = { decisions: await readAnswersAt(db, probes) };
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  process.stdout.write(`The bare server of decisions is ready: http://localhost:${port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
