import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { serverSettings } from '#lib/db/embedded/create-cluster.ts';
import { prepareTestPostgres } from '../test/infrastructure/postgres.ts';

/** A PostgreSQL of this run's own, as durable as PostgreSQL is by default. */
export interface BenchPostgres {
  /** Of the postmaster, whose children do the work. */
  pid: number;
  /** Of a database, for its superuser. */
  adminUrl(database: string): string;
  /** Makes a database that the role `accord` owns. @returns its URL. */
  createDatabase(name: string, template?: string): Promise<string>;
  /** Runs a statement as superuser. */
  run<T extends pg.QueryResultRow>(database: string, text: string, values?: unknown[]): Promise<T[]>;
  stop(): Promise<void>;
}

/** Room for several processes with their pools, and for millions of rows. */
const largeSettings = {
  ...serverSettings,
  max_connections: '200',
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  maintenance_work_mem: '256MB',
};

/** @param more settings of this run. @param neededBytes what it will hold, if that is much. */
export async function startPostgres(
  more: Record<string, string> = {},
  neededBytes?: number,
): Promise<BenchPostgres> {
  const prepared = await prepareTestPostgres(neededBytes);
  const postmaster = await prepared.launch({ ...largeSettings, ...more });
  const urlOf = (database: string, user = 'postgres') => {
    const url = new URL(prepared.url);
    url.username = user;
    url.pathname = `/${database}`;
    return url.href;
  };
  async function run<T extends pg.QueryResultRow>(database: string, text: string, values: unknown[] = []) {
    const client = new pg.Client({ connectionString: urlOf(database) });
    await client.connect();
    const result = await client.query<T>(text, values).finally(() => client.end());
    return result.rows;
  }
  await run('postgres', 'CREATE ROLE accord LOGIN CREATEROLE');
  return {
    pid: Number.parseInt(readFileSync(path.join(prepared.files, 'postmaster.pid'), 'utf8'), 10),
    run,
    adminUrl: (database) => urlOf(database),
    async createDatabase(name, template = 'template1') {
      await run('postgres', `CREATE DATABASE ${name} OWNER accord TEMPLATE ${template} STRATEGY file_copy`);
      return urlOf(name, 'accord');
    },
    async stop() {
      // Fast shutdown: connections are cut.
      postmaster.signal('SIGINT');
      await postmaster.ended;
      await prepared.remove();
    },
  };
}
