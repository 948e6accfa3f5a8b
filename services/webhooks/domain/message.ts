import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { newUuid } from '#lib/ids/random-ids.ts';
import { testAction } from './actions.ts';

/** Attributes and data of an event, as topics carry them. */
export interface CarriedEvent {
  id: string;
  type: string;
  source: string;
  subject: string;
  time: string;
  data: Record<string, unknown>;
  requestid?: string;
  traceparent?: string;
}

/** Headers and body of the request to an endpoint. */
export interface Message {
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Creates a webhook's secret in the format of Standard Webhooks: 256 random bits. */
export function drawSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** A test message: it reports no change. @param source base URL of the instance. */
export function testEvent({ webhook, source }: { webhook: string; source: string }): CarriedEvent {
  return {
    id: newUuid(),
    type: `io.accord.${testAction}.v1`,
    source,
    subject: webhook,
    time: new Date().toISOString(),
    data: { webhook },
  };
}

/**
 * Writes an event in the structured mode of CloudEvents 1.0 and signs it as Standard Webhooks requires.
 * @param id `webhook-id`. @param sentAt seconds since 1970; receivers reject old messages.
 * @param secrets the current one, and the previous one while it still signs: receivers accept any of the
 * signatures.
 */
export function writeMessage(
  event: CarriedEvent,
  { id, sentAt, secrets }: { id: string; sentAt: number; secrets: readonly string[] },
): Message {
  const body = writeBody(event);
  const time = new Date(sentAt * 1000);
  return {
    headers: {
      'Content-Type': 'application/cloudevents+json; charset=utf-8',
      'User-Agent': 'Accord-Webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(sentAt),
      'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, time, body)).join(' '),
    },
    body: new TextEncoder().encode(body),
  };
}

/** The body of the request, in JSON. Traces stay within the instance and its peers. */
export function writeBody({ traceparent: _, ...event }: CarriedEvent): string {
  const { id, type, source, subject, time, data, ...extensions } = event;
  const attributes = { specversion: '1.0', id, type, source, subject, time, ...extensions };
  return JSON.stringify({ ...attributes, datacontenttype: 'application/json', data });
}
