import pg from 'pg';
import { waitUntil } from '../wait-until.ts';
import type { ServiceProcess } from './service-process.ts';

/** More than a process ever needs that has nothing to do: its pool, its neighbours, Kafka, and connections that are kept for the next request. */
const mostOpenFiles = 128;
const mostMegabytes = 400;
/** Connections and memory are given back in a while. */
const patienceMs = 15_000;

/** What processes hold that have nothing to do any more (I9). @param url of a superuser. @returns one sentence each. */
export async function findLeaks(url: string, services: readonly ServiceProcess[]): Promise<string[]> {
  let leaks: string[] = [];
  const none = async () => {
    leaks = [...(await openTransactions(url)), ...(await Promise.all(services.map(leaksOf))).flat()];
    return leaks.length === 0;
  };
  await waitUntil('nothing is held', none, { timeoutMs: patienceMs, everyMs: 500 }).catch(() => {});
  return leaks;
}

async function leaksOf({ name, openFiles, residentMegabytes }: ServiceProcess): Promise<string[]> {
  const [files, megabytes] = await Promise.all([openFiles(), residentMegabytes()]);
  return [
    ...(files > mostOpenFiles ? [`${name} holds ${files} files and sockets`] : []),
    ...(megabytes > mostMegabytes ? [`${name} holds ${megabytes} MB of memory`] : []),
  ];
}

async function openTransactions(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT a.application_name AS name FROM pg_stat_activity AS a WHERE a.state LIKE 'idle in transaction%'",
    );
    return rows.map(({ name }) => `${name} has left a transaction open`);
  } finally {
    await client.end();
  }
}
