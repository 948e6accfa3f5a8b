import { randomUUID } from 'node:crypto';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Caller } from './callers.ts';
import type { TestInstance } from './instance.ts';
import { runInDatabase } from './live-database.ts';
import { complete } from './live-subject.ts';

/** A transaction as its caller gets it. */
export interface LiveTransaction {
  id: string;
  subject: string;
  token: string;
  /** Where it is answered, without the token. */
  task: string;
  /** Where the subject is sent. */
  url: string;
}

/**
 * Has a caller create a transaction, of `layout.001` and a subject never seen before unless told otherwise.
 */
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

/** Creates a transaction that is confirmed on its page, and submits answers. @returns its code too. */
export async function submitForCode(
  caller: Caller,
  context: Record<string, unknown> = {},
  answers: Record<string, string[]> = complete,
): Promise<LiveTransaction & { code: string }> {
  const made = await createTransaction(caller, { ...context, confirmation: 'FORM_CODE' });
  const submitted = await caller.send('POST', `/consents/${made.id}/submit`, answers);
  if (!submitted.ok) throw new Error(`the answers were not accepted: ${await submitted.text()}`);
  const { code } = (await (await caller.get(`/consents/${made.id}/confirm`)).json()) as { code: string };
  return { ...made, code };
}

/**
 * Has a caller record a subject's answers in one step, of a layout with just the elements that are answered.
 */
export async function recordAnswers(
  caller: Caller,
  subject: string,
  answers: Record<string, string[]>,
  context: Record<string, unknown> = {},
): Promise<LiveTransaction> {
  const elements = Object.keys(answers).flatMap((name) => name.split('/')[2] ?? []);
  const response = await caller.send('POST', '/consents/singlestep', {
    context: { subject, layoutData: { elements }, ...context },
    values: answers,
  });
  if (response.status !== 201) throw new Error(`the answers were not recorded: ${await response.text()}`);
  const made = (await response.json()) as LiveTransaction;
  return { ...made, url: response.headers.get('location') ?? '' };
}

/** Lets the time to answer run out. */
export async function expire(instance: TestInstance, { id }: { id: string }): Promise<void> {
  await runInDatabase(
    instance,
    'UPDATE transactions.transactions AS t SET expires_at = t.created_at WHERE t.id = $1',
    [id],
  );
}

type LiveRecord = components['schemas']['ConsentRecord'];

/** What is on record about a subject, by the element's key, newest first. @param filter as a query string. */
export async function recordsOf(
  caller: Caller,
  subject: string,
  filter = '',
): Promise<Record<string, LiveRecord[]>> {
  const response = await caller.get(`/records?subject=${encodeURIComponent(subject)}${filter}`);
  return (await response.json()) as Record<string, LiveRecord[]>;
}
