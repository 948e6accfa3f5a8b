// @c15t/backend as its documentation says, on PostgreSQL by kysely. bench/recorded.ts installs it beside a
// copy of this file.
import { createServer } from 'node:http';
import { c15tInstance } from '@c15t/backend';
import { kyselyAdapter } from '@c15t/backend/db/adapters/kysely';
import { migrator } from '@c15t/backend/db/migrator';
import { DB } from '@c15t/backend/db/schema';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 16 });
const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
const adapter = kyselyAdapter({ db, provider: 'postgresql' });
const migration = await migrator({ db: DB.client(adapter), schema: 'latest' });
await migration.execute();
const c15t = c15tInstance({
  appName: 'bench',
  basePath: '/',
  trustedOrigins: ['localhost'],
  adapter,
  logger: { level: 'error' },
});

const server = createServer(async (incoming, outgoing) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const response = await c15t.handler(
    new Request(`http://localhost${incoming.url}`, {
      method: incoming.method,
      headers: incoming.headers,
      body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
    }),
  );
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`c15t is ready: http://localhost:${server.address().port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
