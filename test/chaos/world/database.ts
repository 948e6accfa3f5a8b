import pg from 'pg';
import { type PostgresProxy, startPostgresProxy } from '../proxy/postgres-proxy.ts';
import type { Random } from '../random.ts';
import { type ChaosPostgres, startChaosPostgres } from './chaos-postgres.ts';

/** A database for an instance, behind a proxy. */
export interface Database {
  postgres: ChaosPostgres;
  proxy: PostgresProxy;
  /** For the instance: its owner's, through the proxy. */
  url: string;
  /** For the checker: the superuser's, without the proxy. */
  directUrl: string;
  stop(): Promise<void>;
}

const name = 'accord';

export async function startDatabase(random: Random): Promise<Database> {
  const postgres = await startChaosPostgres();
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`CREATE ROLE ${name} LOGIN CREATEROLE`);
  await client.query(`CREATE DATABASE ${name} OWNER ${name}`);
  await client.end();
  const proxy = await startPostgresProxy({ target: () => postgres.port, random });
  const direct = new URL(postgres.url);
  direct.pathname = `/${name}`;
  return {
    postgres,
    proxy,
    url: `postgresql://${name}@127.0.0.1:${proxy.port}/${name}`,
    directUrl: direct.href,
    async stop() {
      await proxy.close();
      await postgres.stop();
    },
  };
}
