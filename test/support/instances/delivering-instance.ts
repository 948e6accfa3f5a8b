import { randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { generatePrivateKey, type PrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Decision, OwnerVerdict, PartRequest, PeerSummary } from '#lib/contracts/parts.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { type AccordEvent, type EventBus, sharedReader } from '#lib/events/event-bus.ts';
import type { OverloadGuard } from '#lib/http/admission.ts';
import { listen } from '#lib/http/listen.ts';
import { createMemoryRateLimiter } from '#lib/http/rate-limits.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createMetrics } from '#lib/observability/metrics.ts';
import { savePeer } from '../../../services/peers/commands/pair.ts';
import { composePeers } from '../../../services/peers/compose.ts';
import { readDescription } from '../../../services/peers/domain/description.ts';
import { contractFetch, readContract } from '../contract/contract.ts';
import type { OwnPeer } from '../peers/peer-of-our-own.ts';
import { createTestBus } from '../stores/event-bus.ts';
import { createTestDatabase } from '../stores/postgres.ts';
import { settingsOf } from './settings-of.ts';

/** What the service transactions would say; a test changes it as it likes. */
export interface TransactionsStandIn
  extends Pick<
    TransactionsOperations,
    | 'readSubmissions'
    | 'readDecision'
    | 'acceptSubmission'
    | 'decideSubmission'
    | 'withdrawSubmission'
    | 'eraseSubmission'
  > {
  /** By sid: what is to be sent. */
  parts: Map<string, { location: string; submission: PartRequest }>;
  /** What peers have handed over and decided, oldest first. */
  accepted: { peer: PeerSummary; sid: string; digest: string; submission: PartRequest }[];
  decided: { peer: PeerSummary; sid: string; decision: Decision }[];
  verdict: OwnerVerdict;
  decision: Decision | 'open';
}

/**
 * The service peers alone: real HTTP, real PostgreSQL, replicas as many as wanted, and a stand-in for
 * transactions.
 */
export interface DeliveringInstance {
  url: string;
  db: Database;
  transactions: TransactionsStandIn;
  fetch: ReturnType<typeof contractFetch>;
  /** Its signing keys: the first signs. */
  keys: PrivateKey[];
  /** Stops all replicas and starts one with these keys, as after `npm run keys -- rotate`. */
  restartWith(keys: PrivateKey[]): Promise<void>;
  replicas: Awaited<ReturnType<typeof composePeers>>[];
  /** Outcomes that have left the outbox. */
  outcomes: AccordEvent[];
  /** Pairs with a partner that a test plays. @returns its id. */
  pairWith(partner: OwnPeer): Promise<string>;
  /** Lets a part for a peer go, as a COMMIT does. @returns its sid. */
  release(to: { url: string }, changes?: Partial<PartRequest>): Promise<string>;
  tell(
    type: 'submission.released' | 'submission.decided' | 'submission.held',
    data: { submission: string; peer: string; decision?: Decision; deadline?: string },
    time?: Date,
  ): Promise<AccordEvent>;
  logs(): string;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

const nobody = async () => ({ result: 'none' }) as const;
const auth = { introspect: nobody, spendPairingKeys: async () => ({}) } as unknown as AuthOperations;
/** Nothing is shared here, and no copies are kept. */
const forms = new Proxy({} as FormsOperations, { get: () => async () => ({ held: true }) });

/** @param guard what keeps it from taking on too much; by default nothing does. */
export async function startDelivering(replicas = 1, guard?: OverloadGuard): Promise<DeliveringInstance> {
  const database = await createTestDatabase();
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLogger({ destination });
  const pool = createPool({ url: database.url, schema: 'peers', log });
  const db = createDatabase({ pool });
  // Of the replicas the first reads events; each of them works the queue and tells what came of it.
  const buses = Array.from({ length: replicas }, () => createTestBus(log));
  const [bus] = buses as [EventBus];
  const metrics = createMetrics();
  const transactions = standIn();
  const keys = [readPrivateKey(generatePrivateKey())];
  let handle: Parameters<typeof listen>[0] = (_request, response) => void response.writeHead(503).end();
  const listener = await listen((request, response) => handle(request, response), {
    host: '127.0.0.1',
    port: 0,
  });
  const url = `http://localhost:${listener.port}`;
  const compose = (signingKeys: PrivateKey[], bus: EventBus) =>
    composePeers({
      db,
      log,
      auth,
      transactions,
      metrics,
      bus,
      forms,
      signingKeys,
      ...(guard && { guard }),
      document: readContract() as never,
      limiter: createMemoryRateLimiter('off'),
      instance: settingsOf(url, 'Here').instance,
      settings: {
        trustedProxies: [],
        allowedNetworks: ['127.0.0.0/8', '::1/128'],
        plainLoopback: true,
      },
      sealingKeys: [readPrivateKey(generatePrivateKey())],
    });
  const composed: DeliveringInstance['replicas'] = [];
  const start = async (signingKeys: PrivateKey[], on: readonly EventBus[]) => {
    for (const bus of on) composed.push(await compose(signingKeys, bus));
    handle = (composed[0] as (typeof composed)[0]).app.callback();
    for (const replica of composed) await replica.start();
  };
  const stopAll = async () => {
    for (const replica of composed.splice(0)) await replica.stop();
  };
  const outcomes = gatherOutcomes(buses, db);
  await start(keys, buses);
  const tell: DeliveringInstance['tell'] = async (type, data, time = new Date()) => {
    const event = {
      id: randomUUID(),
      type: `io.accord.${type}.v1`,
      source: url,
      subject: data.submission,
      data,
      time: time.toISOString(),
    };
    const unsent = await bus.publish([{ topic: 'accord.peer-submissions', key: data.submission, event }]);
    if (unsent.length > 0) throw unsent[0]?.error;
    return event;
  };
  return {
    url,
    db,
    transactions,
    keys,
    outcomes,
    tell,
    replicas: composed,
    fetch: contractFetch(url),
    async restartWith(signingKeys) {
      await stopAll();
      await start(signingKeys, [createTestBus(log)]);
    },
    async pairWith(partner) {
      const read = readDescription(await partner.describe(), {
        url: partner.url,
        now: new Date(),
        ownKids: new Set(),
      });
      if ('fault' in read) throw new Error(`the partner cannot be paired with: ${read.fault}`);
      const how = { action: 'peer.paired' } as const;
      const { id } = await db.withTransaction((tx) =>
        savePeer(tx, { baseUrl: url }, { ...how, description: read.description }),
      );
      return id;
    },
    async release(to, changes = {}) {
      const sid = randomId();
      transactions.parts.set(sid, samplePart(url, to.url, changes));
      await tell('submission.released', { submission: sid, peer: to.url });
      return sid;
    },
    logs: () => lines.join(''),
    metrics: async () => (await metrics.read()).body,
    async stop() {
      await listener.close(2_000);
      await stopAll();
      await pool.end();
      await database.drop();
    },
  };
}

function gatherOutcomes(buses: readonly EventBus[], db: Database): AccordEvent[] {
  const outcomes: AccordEvent[] = [];
  for (const bus of buses)
    bus.subscribe('accord.peer-outcomes', sharedReader({ name: 'test', db }), async (event) => {
      outcomes.push(event);
    });
  return outcomes;
}

/** A part as transactions reads it. */
export function samplePart(leader: string, location: string, changes: Partial<PartRequest> = {}) {
  return {
    location,
    submission: {
      leader: { location: leader, id: '7Zk3pQxWm4tYv9LsRb2NcD' },
      subject: 'ann',
      language: 'en',
      validity: 'P6M',
      mode: 'commit' as const,
      sealed: 'a..b.c.d',
      ...changes,
    },
  };
}

function standIn(): TransactionsStandIn {
  const held: TransactionsStandIn = {
    parts: new Map(),
    accepted: [],
    decided: [],
    decision: 'open',
    verdict: { verdict: 'committed', id: 'ours' },
    readSubmissions: async ({ sids }) =>
      Object.fromEntries(sids.map((sid) => [sid, held.parts.get(sid) ?? null])),
    readDecision: async () => ({ decision: held.decision }),
    async acceptSubmission(input) {
      held.accepted.push(input);
      return held.verdict;
    },
    async decideSubmission(input) {
      held.decided.push(input);
      return { verdict: input.decision === 'commit' ? 'committed' : 'rolledback', id: 'ours' };
    },
    withdrawSubmission: async () => ({ verdict: 'withdrawn', id: 'ours' }),
    eraseSubmission: async () => ({ verdict: 'noted', id: 'ours' }),
  };
  return held;
}
