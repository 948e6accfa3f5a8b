import canonicalize from 'canonicalize';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Outcome, PeerRow } from '../domain/delivery.ts';
import type { ReadPart } from './read-ahead.ts';
import { type ReceiptParts, type Reply, requestReceipt } from './request-receipt.ts';

/** What deliveries take. */
export interface AttemptParts extends ReceiptParts {
  transactions: Pick<TransactionsOperations, 'readSubmissions' | 'decideSubmission'>;
}

/** Makes one attempt. @throws what transactions or the database throws. */
export function attemptDelivery(parts: AttemptParts, row: PeerRow, readPart: ReadPart): Promise<Outcome> {
  if (row.kind === 'submit') return sendSubmission(parts, row, readPart);
  return row.kind === 'decide' ? sendDecision(parts, row) : askDecision(parts, row);
}

/** Sends a part of the answers to its owner. */
async function sendSubmission(parts: AttemptParts, row: PeerRow, readPart: ReadPart): Promise<Outcome> {
  const { url, sid } = row;
  const found = await readPart(sid);
  if (!found) return { kind: 'done' };
  const { deadline } = found;
  if (found.location !== url)
    return { kind: 'failed', own: true, error: 'The part belongs to another peer.', deadline };
  const body = bytesOf(found.submission);
  const reply = await requestReceipt(parts, row, { method: 'PUT', path: pathOf(sid), body });
  const outcome = readVerdict(reply, ['committed', 'held', 'rolledback', 'refused']);
  return outcome.kind === 'failed' ? { ...outcome, deadline } : outcome;
}

/** Tells the owner of a part that it holds what was decided. */
async function sendDecision(parts: AttemptParts, row: PeerRow): Promise<Outcome> {
  const body = bytesOf({ decision: row.decision });
  const reply = await requestReceipt(parts, row, {
    method: 'POST',
    path: `${pathOf(row.sid)}/decision`,
    body,
  });
  return readVerdict(reply, ['committed', 'rolledback', 'refused']);
}

/** Asks for a decision that is late; when even that is over, the part is rolled back (federation.md, "Answers", 6). */
async function askDecision(parts: AttemptParts, row: PeerRow): Promise<Outcome> {
  const { sid, peer, overdue } = row;
  const reply = await requestReceipt(parts, row, { method: 'GET', path: `/federation/decisions/${sid}` });
  if ('fault' in reply) return failed(reply.fault);
  if (!('decision' in reply.content)) return failed('The answer of the peer is none to a question.');
  const said = reply.content.decision;
  if (said === 'open' && !overdue) return { kind: 'open' };
  const decision = said === 'commit' ? 'commit' : 'rollback';
  await parts.transactions.decideSubmission({ peer, sid, decision });
  return { kind: 'answered', receipt: reply.receipt, says: said };
}

function pathOf(sid: string): string {
  return `/federation/submissions/${sid}`;
}

/** Always the same bytes, whatever order members come in: their digest names the request. */
function bytesOf(content: object): Uint8Array {
  return Buffer.from(canonicalize(content) as string);
}

function readVerdict(reply: Reply, possible: readonly string[]): Outcome {
  if ('fault' in reply) return failed(reply.fault);
  const { receipt, content } = reply;
  if (!('verdict' in content) || !possible.includes(content.verdict))
    return failed('The answer of the peer is none to this request.');
  return { kind: 'answered', receipt, says: content.verdict, tell: content };
}

function failed(error: string): Outcome & { kind: 'failed' } {
  return { kind: 'failed', own: false, error };
}
