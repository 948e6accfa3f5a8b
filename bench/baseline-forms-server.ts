import { createServer } from 'node:http';
import { createPool } from '#lib/db/pool.ts';
import { sharedReader } from '#lib/events/event-bus.ts';
import { createBus } from '#lib/events/in-process-bus.ts';
import { createCallerCheck } from '#lib/internal/caller-tokens.ts';
import { readOperations } from '#lib/internal/internal-client.ts';
import { serveOperations } from '#lib/internal/internal-server.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createMetrics } from '#lib/observability/metrics.ts';
import { createBaselineForms } from './baseline-forms.ts';
import { queriesOf, readSamples } from './baseline-parts.ts';

// The second half of a bare server that is divided as Accord is: what the first half asks it for, as one
// service of Accord asks another. It also reads the events, as Accord's webhooks do, and does nothing with
// them.

const { DATABASE_URL: url = '', KAFKA_BROKERS: brokers = '', CALLER_SECRET: secret = '' } = process.env;
const log = createLogger({ level: 'warn' });
const pool = createPool({ url, schema: 'forms', log });
const db = queriesOf(pool);
const operations = createBaselineForms({ db, samples: readSamples() });
const bus = await createBus({
  brokers: brokers.split(','),
  clientId: 'bare-forms',
  log,
  metrics: createMetrics().events,
});
bus.subscribe('accord.consents', sharedReader({ name: 'bare', db }), async () => {});
bus.start();
const server = createServer(
  serveOperations({
    offer: {
      service: 'forms',
      operations,
      callers: Object.fromEntries(readOperations.forms.map((name) => [name, ['transactions']])) as never,
    },
    checkCaller: createCallerCheck('forms', { transactions: [Buffer.from(secret)] }),
    log,
  }),
);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  process.stdout.write(`The bare forms server is ready: http://localhost:${port}\n`);
});
process.once('SIGTERM', async () => {
  server.close();
  server.closeAllConnections();
  await bus.stop();
  await pool.end();
  process.exit(0);
});
