import pg from 'pg';
import type { CarriedEvent } from './evidence.ts';

/** What an instance's database holds, as far as the checker looks. */
export interface Stored {
  transactions: { id: string; subject: string; state: string; version: number; parent: string | null }[];
  versions: { transaction: string; version: number; state: string }[];
  records: {
    transaction: string;
    subject: string;
    key: string;
    value: string[];
    state: string;
    /** The consent that it withdraws. */
    withdraws?: string | null;
  }[];
  messages: { id: string; transaction: string; kind: string; state: string }[];
  receipts: { transaction: string; answers: Record<string, string> }[];
  /** Every event that was ever put into the outbox. */
  events: (CarriedEvent & {
    /** When it was written, in ms, by the clock and not by the begin of its transaction. */ at: number;
  })[];
  /** How many events and messages are still on their way, of all services. */
  waiting: number;
  /** Ids of what was put aside. */
  deadLetters: string[];
}

/**
 * Has the database keep a copy of every event: outbox rows go when they are sent, and come again when a topic
 * is lost. @param url of a superuser.
 */
export async function keepEvents(url: string): Promise<void> {
  await withClient(url, (client) =>
    client.query(`
      CREATE SCHEMA chaos;
      CREATE TABLE chaos.events (id uuid PRIMARY KEY, event jsonb, at timestamptz DEFAULT clock_timestamp());
      CREATE FUNCTION chaos.keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN INSERT INTO chaos.events VALUES (NEW.event_id, NEW.event) ON CONFLICT DO NOTHING; RETURN NEW; END $$;
      CREATE TRIGGER keep AFTER INSERT ON transactions.outbox FOR EACH ROW EXECUTE FUNCTION chaos.keep();`),
  );
}

/**
 * Ends the leases of processes that were killed, and waits before another attempt, as time would; and what is
 * open stays so, so that nothing happens any more while one looks.
 */
export async function endWaits(url: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(
      `UPDATE transactions.transactions SET expires_at = expires_at + interval '1 day' WHERE state IN ('CREATED', 'SUBMITTED')`,
    );
    for (const outbox of await tablesNamed(client, 'outbox'))
      await client.query(`UPDATE ${outbox} SET lease_until = NULL, not_before = now()`);
    for (const deliveries of await tablesNamed(client, 'deliveries'))
      await client.query(`UPDATE ${deliveries} SET not_before = now() WHERE not_before > now()`);
    await client.query('UPDATE transactions.messages SET not_before = now() WHERE not_before > now()');
    for (const targets of ['webhooks.webhooks', 'peers.queues', 'transactions.message_queues'])
      await client.query(`UPDATE ${targets} SET lease_owner = NULL, lease_until = NULL, next_at = now()`);
  });
}

/** How many events and messages are still on their way. */
export async function countWaiting(url: string): Promise<number> {
  return withClient(url, waitingIn);
}

/** @param prefix what the names of the subjects begin with that are looked at. */
export async function readStored(url: string, prefix: string): Promise<Stored> {
  return withClient(url, async (client) => {
    const rows = async (text: string) => (await client.query(text, [`${prefix}%`])).rows;
    const ours = 'IN (SELECT o.id FROM transactions.transactions AS o WHERE o.subject LIKE $1)';
    return {
      transactions: await rows(
        'SELECT id, subject, state, version, parent FROM transactions.transactions WHERE subject LIKE $1',
      ),
      versions: await rows(
        `SELECT transaction, version, state FROM transactions.transaction_history WHERE transaction ${ours}`,
      ),
      records: await rows(
        'SELECT transaction, subject, key, value, state, withdraws FROM transactions.records WHERE subject LIKE $1',
      ),
      messages: await rows(
        `SELECT id, transaction, kind, state FROM transactions.messages WHERE transaction ${ours}`,
      ),
      receipts: (
        await rows(
          `SELECT transaction, body::jsonb AS body FROM transactions.receipts WHERE transaction ${ours}`,
        )
      ).map(readReceipt),
      // A topic that was lost is filled again, by the same events.
      events: await rows(`
        SELECT DISTINCT event->>'id' AS id, event->'data'->>'transaction' AS transaction,
               (event->'data'->>'version')::int AS version, event->'data'->>'state' AS state, event->>'type' AS type, extract(epoch FROM at)::float8 * 1000 AS at
          FROM chaos.events WHERE event->>'type' LIKE 'io.accord.consent.%' AND event->'data'->>'transaction' ${ours}`),
      waiting: await waitingIn(client),
      deadLetters: await readDeadLetters(client),
    };
  });
}

async function waitingIn(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `SELECT count(*)::int AS waiting FROM transactions.messages WHERE state = 'PENDING'`,
  );
  let { waiting } = rows[0];
  for (const outbox of await tablesNamed(client, 'outbox'))
    waiting += (await client.query(`SELECT count(*)::int AS waiting FROM ${outbox}`)).rows[0].waiting;
  return waiting;
}

/** Ids of what was put aside by any service. @param url of a superuser. */
export async function findDeadLetters(url: string): Promise<string[]> {
  return withClient(url, readDeadLetters);
}

async function readDeadLetters(client: pg.Client): Promise<string[]> {
  const ids: string[] = [];
  for (const table of await tablesNamed(client, 'dead_letters'))
    ids.push(...(await client.query(`SELECT event_id::text AS id FROM ${table}`)).rows.map(({ id }) => id));
  return ids;
}

/** A table of this name in every service's schema. */
async function tablesNamed(client: pg.Client, name: string): Promise<string[]> {
  const { rows } = await client.query(
    'SELECT t.schemaname AS schema FROM pg_tables AS t WHERE t.tablename = $1 ORDER BY t.schemaname',
    [name],
  );
  return rows.map(({ schema }) => `${schema}.${name}`);
}

function readReceipt({
  transaction,
  body,
}: {
  transaction: string;
  body: { consents: { identifier: string; answer: string | string[] }[] };
}) {
  const answers = body.consents.map(({ identifier, answer }) => [
    identifier.split('/')[2],
    [answer].flat().join(),
  ]);
  return { transaction, answers: Object.fromEntries(answers) as Record<string, string> };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // The query in hand rejects with it.
  await client.connect();
  return work(client).finally(() => client.end());
}
