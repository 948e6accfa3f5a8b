import { expect, onTestFinished, vi } from 'vitest';
import { patience } from '../run/patience.ts';
import type { Caller } from './callers.ts';
import { letter, study, transactionIn } from './live-subject.ts';
import { recordAnswers } from './live-transactions.ts';
import type { LiveWebhook } from './webhook-endpoint.ts';

/** An organisation that is told of a withdrawal, as the transaction shows it. */
export interface LiveRecipient {
  name: string;
  kind: string;
  state: string;
  outcome?: string;
  note?: string;
  since: string;
}

/** Creates a webhook of an organisation, for one test. */
export async function addRecipient(
  caller: Caller,
  targetUrl: string,
  more: object = {},
): Promise<LiveWebhook> {
  const fixed = { targetUrl, subscribedActions: ['consent.withdrawn'], recipient: 'Letters Ltd' };
  const made = await caller.send('POST', '/webhooks', { ...fixed, ...more });
  expect(made.status).toBe(201);
  const webhook = (await made.json()) as LiveWebhook;
  onTestFinished(async () => void (await caller.send('DELETE', `/webhooks/${webhook.id}`).catch(() => {})));
  return webhook;
}

let people = 0;

/** Withdraws consents of a new subject: one of two, unless others are named. */
export async function withdrawNew(caller: Caller, elements = [letter]) {
  people += 1;
  const subject = `withdrawing-${people}`;
  const made = await recordAnswers(caller, subject, { [letter]: ['accepted'], [study]: ['accepted'] });
  const withdrawn = caller.send('POST', `/consents/${made.id}/withdraw`, { elements });
  return { ...(await transactionIn(withdrawn)), subject };
}

export async function recipientsOf(caller: Caller, { id }: { id: string }): Promise<LiveRecipient[]> {
  const read = await (await caller.get(`/consents/${id}`)).json();
  return (read as { recipients: LiveRecipient[] }).recipients;
}

/** Waits until the first recipient of a withdrawal is in a state. */
export function recipientIn(
  caller: Caller,
  withdrawal: { id: string },
  state: string,
): Promise<LiveRecipient> {
  return vi.waitFor(async () => {
    const [recipient] = await recipientsOf(caller, withdrawal);
    expect(recipient).toMatchObject({ state });
    return recipient as LiveRecipient;
  }, patience);
}

/** Posts an acknowledgement as a receiver does. */
export function acknowledge(url: string, body?: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return fetch(url, { method: 'POST', ...(body && { body: JSON.stringify(body), headers }) });
}
