import { decodeBase64 } from './base64.ts';
import type { EventData } from './events.gen.ts';

/** An event (CloudEvents 1.0), by its type. */
export type WebhookEvent = { [Type in keyof EventData]: CloudEvent<Type, EventData[Type]> }[keyof EventData];

export interface CloudEvent<Type, Data> {
  specversion: '1.0';
  id: string;
  source: string;
  type: Type;
  subject: string;
  time: string;
  datacontenttype: string;
  data: Data;
}

/** A message that was not sent by the instance, or not now. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

/**
 * Verifies a message (Standard Webhooks). @param body the unmodified bytes or text of the request.
 * @param secret `whsec_…`; several while a secret is renewed. @param tolerance in seconds, for its time.
 * @throws {WebhookError} A later version of an instance may send types that are not in `WebhookEvent`.
 */
export async function verifyWebhook(
  body: string | Uint8Array<ArrayBuffer>,
  headers: Headers | Record<string, string | string[] | undefined>,
  secret: string | readonly string[],
  tolerance = 300,
): Promise<WebhookEvent> {
  const all = headers instanceof Headers ? headers : new Headers(pairsOf(headers));
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    all.get(`webhook-${name}`),
  );
  if (!id || !timestamp || !signatures) throw new WebhookError('The headers of a webhook are missing.');
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > tolerance)
    throw new WebhookError('The message is too old or too new.');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array([...head, ...bytes]);
  for (const each of [secret].flat())
    for (const signature of signatures.split(' '))
      if (signature.startsWith('v1,') && (await isSignedWith(each, signed, signature.slice(3))))
        return JSON.parse(new TextDecoder().decode(bytes));
  throw new WebhookError('No signature is right.');
}

function pairsOf(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
}

async function isSignedWith(
  secret: string,
  signed: Uint8Array<ArrayBuffer>,
  signature: string,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''));
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  try {
    return await crypto.subtle.verify(algorithm, key, decodeBase64(signature), signed);
  } catch {
    return false; // Not base64.
  }
}
