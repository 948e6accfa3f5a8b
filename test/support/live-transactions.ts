import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Caller } from './callers.ts';
import type { TestInstance } from './instance.ts';

/** A transaction as its caller gets it. */
export interface LiveTransaction {
  id: string;
  subject: string;
  token: string;
  /** Where the subject is sent. */
  url: string;
}

/** Has a caller create a transaction, of `layout.001` and a subject never seen before unless told otherwise. */
export async function createTransaction(
  caller: Caller,
  context: Record<string, unknown> = {},
): Promise<LiveTransaction> {
  const layout = 'layoutData' in context ? {} : { layout: 'layout.001' };
  const subject = `subject-${randomUUID()}`;
  const response = await caller.send('POST', '/consents', { subject, ...layout, ...context });
  if (response.status !== 201) throw new Error(`the transaction was not made: ${await response.text()}`);
  const made = (await response.json()) as LiveTransaction;
  return { ...made, url: response.headers.get('location') ?? '' };
}

/** Lets the time to answer run out. */
export async function expire(instance: TestInstance, { id }: { id: string }): Promise<void> {
  const client = new pg.Client({ connectionString: instance.databaseUrl });
  await client.connect();
  await client
    .query('UPDATE transactions.transactions AS t SET expires_at = t.created_at WHERE t.id = $1', [id])
    .finally(() => client.end());
}

/** A record as lists of records show it, as far as tests look. */
interface LiveRecord {
  value: string;
  status: string;
  transaction: string;
}

/** What is on record about a subject, by the element's key, newest first. */
export async function recordsOf(caller: Caller, subject: string): Promise<Record<string, LiveRecord[]>> {
  return (await (await caller.get(`/records?subject=${subject}`)).json()) as Record<string, LiveRecord[]>;
}
