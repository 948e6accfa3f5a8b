import { Webhook } from 'standardwebhooks';

/** The attributes and data of an event, as topics carry them. */
export interface CarriedEvent {
  id: string;
  type: string;
  source: string;
  subject: string;
  time: string;
  data: Record<string, unknown>;
  requestid?: string;
}

/** What is posted to an endpoint. */
export interface Message {
  headers: Record<string, string>;
  body: Uint8Array;
}

/**
 * Writes an event as one JSON document (CloudEvents 1.0, structured mode) and signs it as Standard Webhooks says.
 * @param id `webhook-id`. @param sentAt seconds since 1970: receivers refuse what is older than some minutes.
 * @param secrets the one in force, and one before it while that is still good: the receiver accepts any of the signatures.
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

function writeBody({ id, type, source, subject, time, data, ...extensions }: CarriedEvent): string {
  const attributes = { specversion: '1.0', id, type, source, subject, time, ...extensions };
  return JSON.stringify({ ...attributes, datacontenttype: 'application/json', data });
}
