import pg from 'pg';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createHttpClient } from './http-client.ts';
import { runFlow } from './run-flow.ts';
import { startServer } from './start-server.ts';

/**
 * Settings of every start: no limits, because all requests come from one address, and figures are not to
 * depend on who else uses the machine.
 */
export function accordSettings(dataDir: string): Record<string, string> {
  return { DATA_DIR: dataDir, PORT: '0', RATE_LIMITS: 'off', MAX_EVENT_LOOP_DELAY: '0', LOG_LEVEL: 'warn' };
}

/** A folder with the demonstration's models, a sample transaction and subjects who have answered before. */
export interface PreparedFolder {
  dataDir: string;
  /** An API key of scope OWNER. */
  key: string;
  firstStartMs: number;
  /** Pages of the sample transaction. */
  form: string;
  final: string;
}

export const returningSubject = (number: number) => `returning-${number}`;
const answersEach = 100;

/**
 * Makes a data folder as a first start and some time of use leave it. @param subjects how many have answered
 * before.
 */
export async function prepareFolder(dataDir: string, subjects: number): Promise<PreparedFolder> {
  const server = await startServer('services/standalone.ts', accordSettings(dataDir));
  const client = createHttpClient({ port: server.port, connections: 1 });
  try {
    const key = await createKey(server.port);
    const { form, final } = await runFlow({ client, key }, { subject: 'sample', order: 0 }, () => {});
    await server.stop();
    await writeHistory(dataDir, subjects);
    return { dataDir, key, firstStartMs: server.readyMs, form, final };
  } finally {
    client.close();
    await server.stop();
  }
}

/** Makes an API key of scope OWNER, as the demonstration's administrator. */
export async function createKey(port: number): Promise<string> {
  const base = `http://127.0.0.1:${port}`;
  const body = new URLSearchParams({
    client_id: 'accord',
    grant_type: 'password',
    username: 'admin',
    password: 'demo',
  });
  const signedIn = await fetch(`${base}/auth`, { method: 'POST', body });
  const { access_token } = (await signedIn.json()) as { access_token: string };
  const made = await fetch(`${base}/keys`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scope: 'OWNER' }),
  });
  const { key } = (await made.json()) as { key: string };
  return key;
}

/**
 * Copies of the sample's records, a day apart: {@link answersEach} for every subject, all to what will be
 * asked again.
 */
async function writeHistory(dataDir: string, subjects: number): Promise<void> {
  const log = createLogger({ level: 'warn' });
  const postgres = await startEmbeddedPostgres({ dataDir, named: true, log });
  try {
    await writeAnswers(postgres.connectionString, subjects);
  } finally {
    await postgres.stop();
  }
}

/** {@link writeHistory} in a database. */
export async function writeAnswers(url: string, subjects: number): Promise<void> {
  // As long as a busy machine needs: pools of the product give up after seconds.
  const client = new pg.Client({ connectionString: url, options: '-c search_path=transactions' });
  await client.connect();
  try {
    await client.query(
      `WITH sample AS (SELECT r.*, row_number() OVER (ORDER BY r.key) - 1 AS place, count(*) OVER () AS places
                         FROM records AS r WHERE r.subject = 'sample')
       INSERT INTO records (id, transaction, subject, key, type, serial, info_key, info_serial, value, positions, state,
                            origin, author, created_at, committed_at, expires_at, from_position, from_at, until_position, until_at)
       SELECT gen_random_uuid(), s.transaction, 'returning-' || n.number, s.key, s.type, s.serial, s.info_key, s.info_serial, s.value,
              s.positions, s.state, s.origin, 'returning-' || n.number, before.at, before.at, s.expires_at,
              $2 - answer, before.at, CASE WHEN answer >= s.places THEN $2 - answer + s.places END,
              CASE WHEN answer >= s.places THEN before.at + interval '1 day' END
         FROM generate_series(0, $1::int - 1) AS n (number) CROSS JOIN generate_series(0, $2::int - 1) AS answer
         JOIN sample AS s ON s.place = answer % s.places
        CROSS JOIN LATERAL (SELECT s.created_at - (1 + answer / s.places) * interval '1 day' AS at) AS before`,
      [subjects, answersEach],
    );
    // Later statements take later positions.
    await client.query("SELECT setval('positions', 1000000)");
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}
