import type { TestInstance } from './instance.ts';
import { rowsOf, runInDatabase } from './live-database.ts';

/** An event as it was written beside the change that it tells of. */
export interface LiveEvent {
  topic: string;
  key: string;
  event: {
    id: string;
    type: string;
    source: string;
    subject: string;
    time: string;
    data: { transaction: string; state?: string; version?: number } & Record<string, unknown>;
  };
}

/** Keeps a copy of every event of transactions from now on: the relay deletes what it has sent. */
export async function keepEvents(instance: TestInstance): Promise<void> {
  await runInDatabase(
    instance,
    `CREATE TABLE transactions.kept_events AS SELECT * FROM transactions.outbox WITH NO DATA;
     CREATE FUNCTION transactions.keep_event() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN INSERT INTO transactions.kept_events SELECT NEW.*; RETURN NEW; END $$;
     CREATE TRIGGER keep_event AFTER INSERT ON transactions.outbox FOR EACH ROW EXECUTE FUNCTION transactions.keep_event()`,
  );
}

/** The events about a transaction that were kept, in the order of their writing. */
export function eventsOf(instance: TestInstance, { id }: { id: string }): Promise<LiveEvent[]> {
  return rowsOf(
    instance,
    'SELECT topic, key, event FROM transactions.kept_events WHERE key = $1 ORDER BY id',
    [id],
  );
}

/** Each version of a transaction and the state that it brought. */
export function historyOf(
  instance: TestInstance,
  { id }: { id: string },
): Promise<{ version: number; state: string }[]> {
  return rowsOf(
    instance,
    'SELECT version, state FROM transactions.transaction_history WHERE transaction = $1 ORDER BY version',
    [id],
  );
}
