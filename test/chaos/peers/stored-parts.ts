import { readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import type { Stored } from '../check/stored.ts';
import { mark, subjectPrefix } from './federated-load.ts';
import type { FederatedWorld } from './federated-world.ts';

/** What the leader's database holds, as far as the checker looks. */
export interface StoredAtLeader {
  transactions: { id: string; subject: string; state: string }[];
  records: StoredRecord[];
  /** Ids of transactions. */
  receipts: string[];
  parts: StoredPart[];
  messages: Stored['messages'];
  /** Where an answer can be read that is not the leader's: tables and logs. */
  marked: string[];
}

export interface StoredPart {
  sid: string;
  transaction: string;
  state: string;
  reason: string | null;
  remoteId: string | null;
  /** The sealed answers are still there. */
  sealed: boolean;
}

/** What the owner's database holds. */
export interface StoredAtOwner {
  submissions: { sid: string; verdict: string; transaction: string | null }[];
  transactions: { id: string; subject: string; state: string; leader: string | null }[];
  records: StoredRecord[];
  receipts: string[];
}

interface StoredRecord {
  transaction: string;
  key: string;
  value: string[];
  state: string;
}

export async function readLeader({ leader, logFolder }: FederatedWorld): Promise<StoredAtLeader> {
  return withClient(leader.databaseUrl, async (client) => {
    const rows = rowsBy(client);
    return {
      transactions: await rows(`SELECT id, subject, state FROM ${ours}`),
      records: await rows(recordsOf),
      receipts: ids(await rows(receiptsOf)),
      parts: await rows(`
        SELECT f.sid, f.transaction, f.state, f.reason, f.remote_id AS "remoteId", f.sealed IS NOT NULL AS sealed
          FROM transactions.sent_parts AS f JOIN ${ours} ON o.id = f.transaction`),
      messages: await rows(
        `SELECT m.id, m.transaction, m.kind, m.state FROM transactions.messages AS m JOIN ${ours} ON o.id = m.transaction`,
      ),
      marked: [...(await markedTables(client)), ...(await markedLogs(logFolder, leader.process.name))],
    };
  });
}

export async function readOwner({ leader, owner }: FederatedWorld): Promise<StoredAtOwner> {
  return withClient(owner.databaseUrl, async (client) => {
    const rows = rowsBy(client);
    return {
      submissions: (
        await client.query(
          'SELECT sid, verdict, transaction FROM transactions.received_parts WHERE peer = $1',
          [leader.baseUrl],
        )
      ).rows,
      transactions: await rows(`SELECT id, subject, state, leader->>'id' AS leader FROM ${ours}`),
      records: await rows(recordsOf),
      receipts: ids(await rows(receiptsOf)),
    };
  });
}

const ours = '(SELECT t.* FROM transactions.transactions AS t WHERE t.subject LIKE $1) AS o';
const recordsOf = `SELECT r.transaction, r.key, r.value, r.state FROM transactions.records AS r JOIN ${ours} ON o.id = r.transaction`;
const receiptsOf = `SELECT r.transaction AS id FROM transactions.receipts AS r JOIN ${ours} ON o.id = r.transaction`;
const rowsBy = (client: pg.Client) => async (text: string) =>
  (await client.query(text, [`${subjectPrefix}%`])).rows;
const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);

/** The mark as text, in hexadecimal, and in base64 (where it looks otherwise in each of three places). */
const spellings = [
  mark,
  Buffer.from(mark).toString('hex'),
  ...[0, 1, 2].map((before) =>
    Buffer.from('.'.repeat(before) + mark)
      .toString('base64url')
      .slice(4, -4),
  ),
];

async function markedTables(client: pg.Client): Promise<string[]> {
  const tables = await client.query(`
    SELECT format('%I.%I', t.schemaname, t.tablename) AS name FROM pg_tables AS t
     WHERE t.schemaname NOT IN ('pg_catalog', 'information_schema')`);
  const marked: string[] = [];
  for (const { name } of tables.rows) {
    const found = await client.query(
      `SELECT FROM ${name} AS t WHERE EXISTS (SELECT FROM unnest($1::text[]) AS s (text) WHERE strpos(t::text, s.text) > 0) LIMIT 1`,
      [spellings],
    );
    if (found.rowCount) marked.push(`the table ${name}`);
  }
  return marked;
}

async function markedLogs(folder: string, process: string): Promise<string[]> {
  const said = await readFile(path.join(folder, `${process}.log`), 'utf8').catch(() => '');
  return spellings.some((text) => said.includes(text)) ? ['the log'] : [];
}

/** What is still on its way between the two. */
export async function countOpen({ leader, owner }: FederatedWorld): Promise<number> {
  const waiting = "(SELECT count(*) FROM peers.deliveries WHERE kind <> 'ask')";
  const events = '(SELECT count(*) FROM transactions.outbox) + (SELECT count(*) FROM peers.outbox)';
  const open = "(SELECT count(*) FROM transactions.sent_parts WHERE state IN ('WAITING', 'SENDING', 'HELD'))";
  const messages = "(SELECT count(*) FROM transactions.messages WHERE state = 'PENDING')";
  const counts = await Promise.all([
    countIn(leader.databaseUrl, `${waiting} + ${events} + ${open} + ${messages}`),
    countIn(owner.databaseUrl, events),
  ]);
  return counts[0] + counts[1];
}

/** Parts that their owner holds, as long as it has not heard what was decided. */
export function countHeld({ owner }: FederatedWorld): Promise<number> {
  return countIn(
    owner.databaseUrl,
    "(SELECT count(*) FROM transactions.received_parts WHERE verdict = 'held')",
  );
}

/** How many parts their owner has answered. */
export function countFinal({ leader }: FederatedWorld): Promise<number> {
  return countIn(
    leader.databaseUrl,
    "(SELECT count(*) FROM transactions.sent_parts WHERE state IN ('ACCEPTED', 'REFUSED', 'DROPPED'))",
  );
}

function countIn(url: string, text: string): Promise<number> {
  return withClient(url, async (client) =>
    Number((await client.query(`SELECT (${text})::int AS count`)).rows[0].count),
  );
}

/**
 * Ends waits before another attempt, as time would, but not those for a decision: it has to come by itself.
 * @param leases those of processes that were killed, too.
 */
export async function hurry({ leader, owner }: FederatedWorld, leases: boolean): Promise<void> {
  for (const { databaseUrl } of [leader, owner])
    await withClient(databaseUrl, async (client) => {
      await client.query('UPDATE peers.queues SET failures = 0, next_at = now()');
      // A peer's keys are asked for once a minute at most.
      await client.query("UPDATE peers.peers SET described_at = now() - interval '1 hour'");
      await client.query(
        "UPDATE peers.deliveries SET not_before = now() WHERE not_before > now() AND kind <> 'ask'",
      );
      await client.query('UPDATE transactions.message_queues SET failures = 0, next_at = now()');
      await client.query('UPDATE transactions.messages SET not_before = now() WHERE not_before > now()');
      if (!leases) return;
      await client.query('UPDATE transactions.message_queues SET lease_owner = NULL, lease_until = NULL');
      await client.query('UPDATE peers.queues SET lease_owner = NULL, lease_until = NULL');
      for (const schema of ['transactions', 'peers'])
        await client.query(`UPDATE ${schema}.outbox SET lease_until = NULL, not_before = now()`);
    });
}

/** Ends the time for codes that nobody has entered. */
export function endCodes({ leader }: FederatedWorld): Promise<unknown> {
  return withClient(leader.databaseUrl, (client) =>
    client.query(
      "UPDATE transactions.transactions SET expires_at = now() WHERE state = 'SUBMITTED' AND awaits_code",
    ),
  );
}

/** Has the owner ask at once for decisions that do not come by themselves, as it does after a minute. */
export function hurryQuestions({ owner }: FederatedWorld): Promise<unknown> {
  return withClient(owner.databaseUrl, (client) =>
    client.query("UPDATE peers.deliveries SET not_before = now() WHERE not_before > now() AND kind = 'ask'"),
  );
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // The query in hand rejects with it.
  await client.connect();
  return work(client).finally(() => client.end());
}
