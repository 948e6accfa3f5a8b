import canonicalize from 'canonicalize';
import { LRUCache } from 'lru-cache';
import type { OwnerVerdict } from '#lib/contracts/parts.ts';
import type { ReleasedPart } from '#lib/contracts/transactions.ts';
import { exponentialBackoff } from '#lib/deliveries/backoff.ts';
import type { AttemptResult } from '#lib/deliveries/delivery-kind.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type PeerClient, peerUnavailable } from '../client/peer-client.ts';
import { type Acknowledgement, readAcknowledgement } from '../domain/acknowledgement.ts';
import { type AttemptFacts, orderHours, type PeerRow, type Verdict } from '../domain/delivery.ts';
import type { PeerDescription } from '../domain/description.ts';
import { bodyDigest } from '../domain/signatures.ts';
import { readPairedKeys } from '../queries/peer-keys.ts';
import type { Dependencies } from './dependencies.ts';

export interface AttemptDependencies extends Dependencies {
  hasCapability: ReturnType<typeof createCapabilities>;
}

type Attempt = AttemptResult<AttemptFacts>;
/** A fault is retried. */
type Reply = Acknowledgement | { fault: string };

/** Reads a part. Call it once for each part. @returns null if nothing is left to send. */
export type ReadPart = (sid: string) => Promise<ReleasedPart | null>;

/** Makes one attempt. @throws errors of transactions and of the database. */
export function attemptDelivery(
  dependencies: AttemptDependencies,
  row: PeerRow,
  readPart: ReadPart,
): Promise<Attempt> {
  if (row.kind === 'submit') return sendPart(dependencies, row, readPart);
  if (row.kind === 'withdraw' || row.kind === 'erase') return sendOrder(dependencies, row, orders[row.kind]);
  if (row.kind === 'ask') return askDecision(dependencies, row);
  const content = { decision: row.decision };
  return sendAbout(dependencies, row, { name: 'decision', content, verdicts: decisionVerdicts });
}

/**
 * Tells whether a peer states a capability in its self-description, which is kept for a minute. The returned
 * function throws a Failure if the self-description cannot be read, or if no pinned key signed it.
 */
export function createCapabilities(client: Pick<PeerClient, 'describe'>) {
  const fetchMethod = (url: string) => client.describe(url);
  const kept = new LRUCache<string, PeerDescription>({ max: 1_000, ttl: 60_000, fetchMethod });
  return async (url: string, signing: PeerRow['signing'], name: string): Promise<boolean> => {
    const { signedBy, capabilities } = await kept.forceFetch(url);
    if (signing.some(({ kid }) => kid === signedBy)) return capabilities.includes(name);
    kept.delete(url);
    throw peerUnavailable('No pinned key vouches for the self-description of the peer.');
  };
}

/** The owner's verdicts that answer a request, each with the verdict that is reported to transactions. */
type Verdicts = Partial<Record<OwnerVerdict['verdict'], Verdict['verdict']>>;

const decisionVerdicts: Verdicts = { committed: 'done', rolledback: 'refused', refused: 'refused' };
const partVerdicts: Verdicts = { ...decisionVerdicts, held: 'held' };

/** @param capability that the owner needs. It is also the last segment of the path. */
type Order = { capability: string; verdicts: Verdicts };

const orders: Readonly<Record<'withdraw' | 'erase', Order>> = {
  withdraw: { capability: 'withdrawal', verdicts: { withdrawn: 'done' } },
  erase: { capability: 'erasure', verdicts: { erased: 'done', noted: 'noted', refused: 'refused' } },
};

/** Tells an owner that the leader has withdrawn a part or erased its person, if it has the capability. */
async function sendOrder(
  dependencies: AttemptDependencies,
  row: PeerRow,
  { capability, verdicts }: Order,
): Promise<Attempt> {
  try {
    if (!(await dependencies.hasCapability(row.url, row.signing, capability)))
      return { kind: 'refused', own: true, facts: { verdict: { verdict: 'unsupported' } } };
  } catch (error) {
    return failed(describeFailure(error));
  }
  // The deadline is `orderHours` after the withdrawal (consumers/subscribe.ts).
  const withdrawnAt = new Date(row.deadline.getTime() - orderHours * 3_600_000);
  const content = row.kind === 'withdraw' ? { withdrawn: withdrawnAt.toISOString() } : {};
  return sendAbout(dependencies, row, { name: capability, content, verdicts });
}

async function sendPart(
  dependencies: AttemptDependencies,
  row: PeerRow,
  readPart: ReadPart,
): Promise<Attempt> {
  const { url, sid } = row;
  const part = await readPart(sid);
  if (!part) return { kind: 'obsolete', facts: {} };
  if (part.location !== url) throw new Error('the part belongs to another peer');
  const body = bytesOf(part.submission);
  const reply = await requestAcknowledgement(dependencies, row, { method: 'PUT', path: pathOf(sid), body });
  return readVerdict(reply, partVerdicts);
}

/** Sends a request about a part. @param name the last segment of its path. */
async function sendAbout(
  dependencies: AttemptDependencies,
  row: PeerRow,
  { name, content, verdicts }: { name: string; content: object; verdicts: Verdicts },
): Promise<Attempt> {
  const path = `${pathOf(row.sid)}/${name}`;
  const body = bytesOf(content);
  const reply = await requestAcknowledgement(dependencies, row, { method: 'POST', path, body });
  return readVerdict(reply, verdicts);
}

/** Back-off of requests for a decision while the leader has not decided. */
const decisionBackoff = exponentialBackoff({ minMs: 60_000, maxMs: 15 * 60_000 });

/** Asks for a decision. After 25 hours `open` means rollback (docs/federation.md, "Answers on their way"). */
async function askDecision(dependencies: AttemptDependencies, row: PeerRow): Promise<Attempt> {
  const { sid, peer, overdue } = row;
  const path = `/federation/decisions/${sid}`;
  const reply = await requestAcknowledgement(dependencies, row, { method: 'GET', path });
  if ('fault' in reply) return failed(reply.fault);
  if (!('decision' in reply.content)) return failed('The acknowledgement contains no decision.');
  const received = reply.content.decision;
  if (received === 'open' && !overdue)
    return { kind: 'retry', facts: {}, waitMs: decisionBackoff(row.attempts + 1, Math.random()) };
  const decision = received === 'commit' ? 'commit' : 'rollback';
  await dependencies.transactions.decideSubmission({ peer, sid, decision });
  return { kind: 'done', facts: { receipt: { jws: reply.jws, verdict: received } } };
}

/** Sends a signed request. Only a valid acknowledgement counts as an answer; everything else is retried. */
async function requestAcknowledgement(
  { db, client, baseUrl, refreshKeys }: AttemptDependencies,
  { url, sid, signing }: PeerRow,
  { method, path, body }: { method: string; path: string; body?: Uint8Array },
): Promise<Reply> {
  const since = new Date();
  const reply = await client
    .send({ method, url, path, body })
    // Error messages of lib/outbound never contain the sent or received data.
    .catch((error: unknown) => ({ fault: describeFailure(error) }));
  if ('fault' in reply) return reply;
  if (reply.status !== 200) return { fault: `The peer answered ${reply.status}.` };
  const { receipt } = (reply.content ?? {}) as { receipt?: unknown };
  if (typeof receipt !== 'string') return { fault: 'The response of the peer contains no acknowledgement.' };
  const about = { sid, digest: bodyDigest(body ?? new Uint8Array()) };
  const from = { url, audience: baseUrl, since, now: new Date() };
  let read = readAcknowledgement(receipt, about, { ...from, signing });
  if ('fault' in read && read.fault === 'unknown-key') {
    await refreshKeys(url);
    // The keys are read even if none were fetched: another attempt may have pinned the new key.
    const keys = await readPairedKeys(db, url);
    read = readAcknowledgement(receipt, about, { ...from, signing: keys?.signing ?? [] });
  }
  if ('fault' in read) return { fault: `The acknowledgement of the peer was rejected (${read.fault}).` };
  return read;
}

/**
 * What failed, for `lastError` of the peer and for logs.
 * @throws the error again if it is not a {@link Failure} of the call: it is a fault of our own.
 */
function describeFailure(error: unknown): string {
  if (!(error instanceof Failure)) throw error;
  if (error.cause instanceof Error) return error.cause.message;
  // The message of a faulty self-description is about pairing; its detail says what is wrong.
  return error.errors?.[0]?.detail ?? error.message;
}

function pathOf(sid: string): string {
  return `/federation/submissions/${sid}`;
}

/** Canonical JSON (RFC 8785), so that repeated requests have the same digest. */
function bytesOf(content: object): Uint8Array {
  return Buffer.from(canonicalize(content) as string);
}

function readVerdict(reply: Reply, verdicts: Verdicts): Attempt {
  if ('fault' in reply) return failed(reply.fault);
  const { jws, content } = reply;
  const reported = 'verdict' in content ? verdicts[content.verdict] : undefined;
  if (!('verdict' in content) || !reported)
    return failed('The acknowledgement of the peer contains no verdict that answers this request.');
  const kind = content.verdict === 'refused' ? 'refused' : 'done';
  const receipt = { jws, verdict: content.verdict };
  return { kind, facts: { receipt, verdict: { ...content, verdict: reported } } };
}

function failed(error: string): Attempt {
  return { kind: 'retry', facts: { error } };
}
