import path from 'node:path';
import pg from 'pg';
import { waitUntil } from '../wait-until.ts';

/** What an instance knew before it was restored, and does not know since. */
export interface Forgotten {
  /** Transactions whose state was another one in the backup, or that were not in it. */
  transactions: { id: string; from: string | null; to: string }[];
  /** Sids of parts for an owner that were not in it. */
  parts: string[];
  /** Sids of parts taken from a leader that were not in it. */
  submissions: string[];
}

/** An instance's database as it was. */
export interface Backup {
  /** Puts it back, once. Whoever is connected is cut off. */
  restore(): Promise<Forgotten>;
}

/** Copies a database of which nobody makes use at the moment. */
export async function backUp(databaseUrl: string): Promise<Backup> {
  const name = path.basename(new URL(databaseUrl).pathname);
  const copy = `${name}_backup`;
  const server = at(databaseUrl, 'postgres');
  await run(server, `DROP DATABASE IF EXISTS ${copy}`);
  // Those of a process that was killed are there for a moment longer.
  await waitUntil(`${name} is copied`, async () => {
    await run(
      server,
      `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a WHERE a.datname = '${name}'`,
    );
    await run(server, `CREATE DATABASE ${copy} TEMPLATE ${name}`);
    return true;
  });
  return {
    async restore() {
      const [before, after] = [await read(databaseUrl), await read(at(databaseUrl, copy))];
      await run(server, `DROP DATABASE ${name} WITH (FORCE)`);
      await run(server, `ALTER DATABASE ${copy} RENAME TO ${name}`);
      const missing = (sids: string[], kept: string[]) => sids.filter((sid) => !kept.includes(sid));
      const states = new Map(after.transactions.map(({ id, state }) => [id, state]));
      return {
        transactions: before.transactions
          .map(({ id, state }) => ({ id, from: states.get(id) ?? null, to: state }))
          .filter(({ from, to }) => from !== to),
        parts: missing(before.parts, after.parts),
        submissions: missing(before.submissions, after.submissions),
      };
    },
  };
}

function at(databaseUrl: string, database: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function read(url: string) {
  const sids = async (table: string) =>
    (await run<{ sid: string }>(url, `SELECT sid FROM transactions.${table}`)).map(({ sid }) => sid);
  return {
    transactions: await run<{ id: string; state: string }>(
      url,
      `SELECT id, CASE WHEN awaits_code AND state = 'SUBMITTED' THEN 'AWAITS_CODE' ELSE state END AS state
         FROM transactions.transactions`,
    ),
    parts: await sids('sent_parts'),
    submissions: await sids('received_parts'),
  };
}

async function run<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // The query in hand rejects with it.
  await client.connect();
  return (await client.query<Row>(text).finally(() => client.end())).rows;
}
