import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { type EventBus, sharedReader } from '#lib/events/event-bus.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { type PageRequest, readPage } from '#lib/http/lists.ts';
import type { Handler, Input } from '#lib/http/operation.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { TreeHead } from './seal-lines.ts';

/** The heads of the audit logs by area. */
type Heads = Record<string, TreeHead>;

/** The claims of a checkpoint (docs/evidence.md, "Checkpoints"). */
interface CheckpointClaims {
  iss: string;
  /** Seconds since 1970. */
  iat: number;
  logs: Heads;
}

interface Options {
  db: Database;
  bus: Pick<EventBus, 'subscribe'>;
  log: Logger;
  baseUrl: string;
  /** Signs claims as a JWS of the type `accord-checkpoint+jwt`. */
  sign: (claims: CheckpointClaims) => string;
  /** Wakes the outbox relay. */
  wake: () => void;
  witnessing: Witnessing;
}

/** What other instances and witnesses have to do with checkpoints. */
export interface Witnessing {
  /** Stores the heads as signed notes, in the transaction of the checkpoint. */
  storeNotes(tx: Queries, heads: Heads): Promise<void>;
  /** Cosignatures under heads, by area and witness. */
  cosignaturesOf(
    heads: readonly { area: string; size: number }[],
  ): Promise<readonly { area: string; size: number; witness: string; signature: string }[]>;
  /** The witnesses that are asked to cosign. */
  listWitnesses(): Promise<{ name: string; isDisputing: boolean; lastError: string | null }[]>;
}

const signMs = 5_000;
/** A checkpoint follows the last one after this time at the earliest. */
const minSeconds = 60;

/** Composes the checkpoints of an instance: stores published heads, signs them, and lists what was signed. */
export function composeCheckpoints(options: Options): {
  list: Handler<Input<'listCheckpoints'>>;
  signer: RepeatedWork;
} {
  const { db, bus, log, wake } = options;
  bus.subscribe('accord.heads', sharedReader({ name: 'peers', db }), async ({ type, data }) => {
    if (type === 'io.accord.audit.head.v1') await storeHead(db, data as EventData[typeof type]);
  });
  return {
    list: createCheckpointList(options),
    signer: createRepeatedWork({
      everyMs: signMs,
      async work() {
        if (await db.withTransaction((tx) => signHeads(tx, options))) wake();
      },
      onError: (error) => log.warn('failed to sign a checkpoint; retried in 5 seconds', { error }),
    }),
  };
}

/** A log only grows, so an event that comes late or again changes nothing. */
async function storeHead(
  db: Queries,
  { area, size, root }: EventData['io.accord.audit.head.v1'],
): Promise<void> {
  await db.query(sql`
    INSERT INTO audit_heads AS h (area, size, root)
    VALUES (${area}, ${size}::bigint, ${Buffer.from(root, 'hex')})
    ON CONFLICT (area) DO UPDATE SET size = excluded.size, root = excluded.root
     WHERE h.size < excluded.size`);
}

/** @returns whether a checkpoint was stored. */
async function signHeads(tx: Queries, { baseUrl, sign, witnessing }: Options): Promise<boolean> {
  // The locks keep two replicas from signing at once.
  const heads = await tx.query<{ area: string; size: string; root: string }>(sql`
    SELECT h.area, h.size, encode(h.root, 'hex') AS root FROM audit_heads AS h ORDER BY h.area FOR UPDATE`);
  if (heads.length === 0) return false;
  const logs: Heads = Object.fromEntries(
    heads.map(({ area, size, root }) => [area, { size: Number(size), root }]),
  );
  const { now, isDue } = await tx.one<{ now: Date; isDue: boolean }>(sql`
    SELECT accord_now() AS now, NOT EXISTS (
             SELECT FROM (SELECT c.at, c.logs FROM checkpoints AS c ORDER BY c.at DESC, c.id DESC LIMIT 1) AS last
              WHERE last.at > accord_now() - ${minSeconds} * interval '1 second'
                 OR last.logs = ${JSON.stringify(logs)}::jsonb) AS "isDue"`);
  if (!isDue) return false;
  const id = newUuid();
  const jws = sign({ iss: baseUrl, iat: Math.floor(now.getTime() / 1000), logs });
  await tx.query(sql`
    INSERT INTO checkpoints (id, at, logs, jws)
    VALUES (${id}, ${now}, ${JSON.stringify(logs)}::jsonb, ${jws})`);
  await witnessing.storeNotes(tx, logs);
  // The same key for all of them: the compacted topic keeps the newest.
  await addToOutbox(tx, 'accord.heads', {
    type: 'io.accord.audit.checkpoint.v1',
    source: baseUrl,
    subject: 'checkpoint',
    data: { checkpoint: id, jws },
  });
  return true;
}

interface Checkpoint {
  id: string;
  at: Date;
  logs: Heads;
  jws: string;
}

/** The handler of `GET /audit/checkpoints`, newest first. */
function createCheckpointList({ db, witnessing }: Options): Handler<Input<'listCheckpoints'>> {
  return async (ctx, { query }) => {
    const { page, next } = await readPage(query, (request) => listCheckpoints(db, request), {
      idOf: ({ id }) => id,
    });
    const heads = page.flatMap(({ logs }) => Object.entries(logs));
    const known = await witnessing.cosignaturesOf(heads.map(([area, { size }]) => ({ area, size })));
    const byHead = Map.groupBy(known, ({ area, size }) => `${area} ${size}`);
    ctx.body = {
      values: page.map(({ id, at, logs, jws }) => {
        const under = Object.entries(logs).flatMap(([area, { size }]) => byHead.get(`${area} ${size}`) ?? []);
        const cosignatures = under.map(({ area, witness, signature }) => ({ area, witness, signature }));
        return { id, at: at.toISOString(), logs, jws, ...(cosignatures.length > 0 && { cosignatures }) };
      }),
      next,
      witnesses: (await witnessing.listWitnesses()).map(({ lastError, ...witness }) => ({
        ...witness,
        ...(lastError !== null && { lastError }),
      })),
    };
  };
}

function listCheckpoints(
  db: Queries,
  { after, limit }: PageRequest,
): Promise<(Checkpoint & { position: string })[]> {
  return db.query(sql`
    SELECT c.id, c.at, c.logs, c.jws, c.at::text AS position FROM checkpoints AS c
     WHERE ${after ? sql`(c.at, c.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)` : sql`true`}
     ORDER BY c.at DESC, c.id DESC LIMIT ${limit}`);
}
