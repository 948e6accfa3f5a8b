import pg from 'pg';
import { startTestPostgres } from '../../../deploy/local/postgres.ts';

/** A PostgreSQL of a run's own, for runs outside of the test suite. */
export interface OwnDatabases {
  urls: readonly [leader: string, owner: string];
  stop(): Promise<void>;
}

/** Two empty databases; their owner is no superuser, as in production. */
export async function startOwnDatabases(): Promise<OwnDatabases> {
  const server = await startTestPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query('CREATE ROLE accord LOGIN CREATEDB CREATEROLE');
  for (const name of ['leader', 'owner']) await client.query(`CREATE DATABASE ${name} OWNER accord`);
  await client.end();
  const urlOf = (name: string) => {
    const url = new URL(server.url);
    url.username = 'accord';
    url.pathname = `/${name}`;
    return url.href;
  };
  return { urls: [urlOf('leader'), urlOf('owner')], stop: server.stop };
}
