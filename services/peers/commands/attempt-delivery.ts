import canonicalize from 'canonicalize';
import { LRUCache } from 'lru-cache';
import type { ReleasedPart, TransactionsOperations } from '#lib/contracts/transactions.ts';
import { exponentialBackoff } from '#lib/deliveries/backoff.ts';
import type { AttemptResult } from '#lib/deliveries/delivery-kind.ts';
import { Failure } from '#lib/errors/fail.ts';
import { maxSealedLength } from '#lib/federation/sealed-answers.ts';
import { type PeerClient, peerUnavailable } from '../client/peer-client.ts';
import { type Acknowledgement, readAcknowledgement } from '../domain/acknowledgement.ts';
import type { AttemptFacts, PeerRow, Verdict } from '../domain/delivery.ts';
import type { PeerDescription } from '../domain/description.ts';
import { bodyDigest } from '../domain/signatures.ts';
import { readPairedKeys } from '../queries/peer-keys.ts';
import type { Dependencies } from './dependencies.ts';

export interface AttemptDependencies
  extends Pick<Dependencies, 'db' | 'client' | 'transactions' | 'baseUrl' | 'refreshKeysOnDemand'> {
  hasCapability: HasCapability;
}

type Attempt = AttemptResult<AttemptFacts>;
/** A fault is retried. */
type Reply = Acknowledgement | { fault: string };

/** Reads a part. Call it once for each part. @returns null if nothing is left to send. */
export type ReadPart = (sid: string) => Promise<ReleasedPart | null>;

/**
 * Reads parts with few calls (ADR 13): a call returns as many parts as fit into its response, and they are
 * kept until they are sent. Calls never overlap.
 */
export function readAhead(
  transactions: Pick<TransactionsOperations, 'readSubmissions'>,
  sids: readonly string[],
): ReadPart {
  const unread = new Set(sids);
  const read = new Map<string, ReleasedPart | null>();
  let reading: Promise<void> | undefined;

  async function readMore(first: string): Promise<void> {
    unread.delete(first);
    const found = await transactions.readSubmissions({ sids: [first, ...unread] });
    for (const [sid, part] of Object.entries({ [first]: null, ...found })) {
      unread.delete(sid);
      read.set(sid, part);
    }
  }

  return async (sid) => {
    while (!read.has(sid)) {
      reading ??= readMore(sid).finally(() => {
        reading = undefined;
      });
      await reading;
    }
    const part = read.get(sid) ?? null;
    read.delete(sid);
    return part;
  };
}

/** Makes one attempt. @throws errors of transactions and of the database. */
export function attemptDelivery(
  dependencies: AttemptDependencies,
  row: PeerRow,
  readPart: ReadPart,
): Promise<Attempt> {
  if (row.kind === 'submit') return sendPart(dependencies, row, readPart);
  if (row.kind === 'withdraw' || row.kind === 'erase') return sendOrder(dependencies, row, orders[row.kind]);
  return row.kind === 'decide' ? sendDecision(dependencies, row) : askDecision(dependencies, row);
}

/** Whether a peer states a capability in its self-description. @throws Failure if that cannot be read. */
export type HasCapability = (url: string, signing: PeerRow['signing'], name: string) => Promise<boolean>;

/** Asks peers for their capabilities, and keeps the answers for a minute. */
export function createCapabilities(client: Pick<PeerClient, 'describe'>): HasCapability {
  const fetchMethod = (url: string) => client.describe(url);
  const kept = new LRUCache<string, PeerDescription>({ max: 1_000, ttl: 60_000, fetchMethod });
  return async (url, signing, name) => {
    const { signedBy, capabilities } = await kept.forceFetch(url);
    if (signing.some(({ kid }) => kid === signedBy)) return capabilities.includes(name);
    kept.delete(url);
    throw peerUnavailable('No pinned key vouches for the self-description of the peer.');
  };
}

interface Order {
  /** The capability that the owner needs, and the last segment of the path. */
  name: string;
  verdicts: readonly string[];
}

const orders: Readonly<Record<'withdraw' | 'erase', Order>> = {
  withdraw: { name: 'withdrawal', verdicts: ['withdrawn'] },
  erase: { name: 'erasure', verdicts: ['erased', 'noted', 'refused'] },
};

/** Tells an owner that the leader has withdrawn a part or erased its person, if the owner understands it. */
async function sendOrder(
  dependencies: AttemptDependencies,
  row: PeerRow,
  { name, verdicts }: Order,
): Promise<Attempt> {
  try {
    if (!(await dependencies.hasCapability(row.url, row.signing, name)))
      return ended({ verdict: row.kind === 'erase' ? 'erasure-unsupported' : 'unsupported' });
  } catch (error) {
    return failed(describeFailure(error));
  }
  const path = `${pathOf(row.sid)}/${name}`;
  const reply = await requestAcknowledgement(dependencies, row, { method: 'POST', path, body: bytesOf({}) });
  return readVerdict(reply, verdicts);
}

async function sendPart(
  dependencies: AttemptDependencies,
  row: PeerRow,
  readPart: ReadPart,
): Promise<Attempt> {
  const { url, sid } = row;
  const part = await readPart(sid);
  if (!part) return { kind: 'obsolete', facts: {} };
  if (part.location !== url) return failed('The part belongs to another peer.', true);
  // Releases before this check stored such parts. Their owner could never accept them.
  if (part.submission.sealed.length > maxSealedLength)
    return ended({ verdict: 'refused', reason: 'too-large' });
  const body = bytesOf(part.submission);
  const reply = await requestAcknowledgement(dependencies, row, { method: 'PUT', path: pathOf(sid), body });
  return readVerdict(reply, ['committed', 'held', 'rolledback', 'refused']);
}

async function sendDecision(dependencies: AttemptDependencies, row: PeerRow): Promise<Attempt> {
  const reply = await requestAcknowledgement(dependencies, row, {
    method: 'POST',
    path: `${pathOf(row.sid)}/decision`,
    body: bytesOf({ decision: row.decision }),
  });
  return readVerdict(reply, ['committed', 'rolledback', 'refused']);
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
  return { kind: 'done', facts: { acknowledgement: reply } };
}

/** Sends a signed request. Only a valid acknowledgement counts as an answer; everything else is retried. */
async function requestAcknowledgement(
  { db, client, baseUrl, refreshKeysOnDemand }: AttemptDependencies,
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
    await refreshKeysOnDemand(url);
    // The keys are read even if none were fetched: another attempt may have pinned the new key.
    const keys = await readPairedKeys(db, url);
    read = readAcknowledgement(receipt, about, { ...from, signing: keys?.signing ?? [] });
  }
  if ('fault' in read) return { fault: `The acknowledgement of the peer was rejected (${read.fault}).` };
  return read;
}

/** @throws errors that are no failure of the call. */
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

function readVerdict(reply: Reply, possible: readonly string[]): Attempt {
  if ('fault' in reply) return failed(reply.fault);
  const { content } = reply;
  if (!('verdict' in content) || !possible.includes(content.verdict))
    return failed('The acknowledgement of the peer contains no verdict that answers this request.');
  return { kind: content.verdict === 'refused' ? 'refused' : 'done', facts: { acknowledgement: reply } };
}

/** Ends a delivery with a verdict of this instance, without an acknowledgement. */
function ended(verdict: Verdict): Attempt {
  return { kind: 'refused', facts: { verdict } };
}

function failed(error: string, own = false): Attempt {
  return { kind: 'retry', own, facts: { failure: { own, error } } };
}
