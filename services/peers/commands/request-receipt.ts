import type { Database } from '#lib/db/database.ts';
import { Failure } from '#lib/errors/fail.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { bodyDigest } from '../domain/body-digest.ts';
import type { PeerRow } from '../domain/delivery.ts';
import { type ReceiptContent, readReceipt } from '../domain/receipt.ts';
import { readCatalogueKeys } from '../queries/catalogues.ts';

/** What asking a peer for a receipt takes. */
export interface ReceiptParts {
  db: Database;
  client: Pick<PeerClient, 'send'>;
  /** This instance: receipts are made out to it. */
  baseUrl: string;
  /** Asks a peer for its keys anew, at most once a minute. @returns whether it was asked. */
  lookAgain: (url: string) => Promise<boolean>;
}

export type Reply = { receipt: string; content: ReceiptContent } | { fault: string };

/** Sends a signed request, and takes nothing but a signed receipt for an answer: whatever else comes is no verdict. */
export async function requestReceipt(
  parts: ReceiptParts,
  { url, sid, signing }: PeerRow,
  { method, path, body }: { method: string; path: string; body?: Uint8Array },
): Promise<Reply> {
  const since = new Date();
  const reply = await send(parts, { method, url, path, ...(body ? { body } : {}) });
  if ('fault' in reply) return reply;
  if (reply.status !== 200) return { fault: `The peer answered ${reply.status}.` };
  const { receipt } = (reply.content ?? {}) as { receipt?: unknown };
  if (typeof receipt !== 'string') return { fault: 'The answer of the peer cannot be read.' };
  const about = { sid, digest: bodyDigest(body ?? new Uint8Array()) };
  const from = { url, audience: parts.baseUrl, since, now: new Date() };
  let read = await readReceipt(receipt, about, { ...from, signing });
  if (!read.valid && read.fault === 'unknown-key') {
    // The peer, or another attempt, may have told of new ones since those of this row were read.
    await parts.lookAgain(url);
    const keys = await readCatalogueKeys(parts.db, url);
    read = await readReceipt(receipt, about, { ...from, signing: keys?.signing ?? [] });
  }
  if (!read.valid) return { fault: `The receipt of the peer does not count (${read.fault}).` };
  return { receipt, content: read.content };
}

async function send({ client }: ReceiptParts, request: Parameters<PeerClient['send']>[0]) {
  try {
    return await client.send(request);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // Their words hold nothing of what was sent or received (lib/outbound).
    return { fault: error.cause instanceof Error ? error.cause.message : error.message };
  }
}
