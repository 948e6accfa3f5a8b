import { createHash, randomBytes } from 'node:crypto';
import { createKeyedLimiter } from '#lib/async/keyed-limiter.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { SignedIn } from './session.ts';

/** A session that was found by its cookie. */
export interface StoredSession extends Tokens {
  /** Issuer and subject of the person. */
  person: string;
  signedInAt: Date;
}

/** `ended`: too old, unused for too long, or ended by the issuer. */
export type FoundSession = ({ ended: false } & StoredSession) | { ended: true; person: string };

/** A session as its person sees it. */
export interface OpenSession {
  /** Names it, and opens nothing. */
  handle: string;
  signedInAt: Date;
  /** To a thirtieth of CONSOLE_IDLE. */
  usedAt: Date;
  isCurrent: boolean;
  /** Browser and system; empty if they are not known. */
  device: string;
}

export interface SessionStore {
  /**
   * @param from.since when the person signed in, if this session follows another one without a new sign-in.
   * @param from.device browser and system of the person.
   * @returns the value of the cookie: 256 random bits.
   */
  create(person: string, tokens: Tokens, from?: { since?: Date; device?: string }): Promise<string>;
  /** Also notes that the session is used. */
  find(id: string): Promise<FoundSession | undefined>;
  /**
   * Replaces the tokens of a session unless another request has done so meanwhile. One request at a time,
   * on any replica, because a refresh token that is used twice ends its grant; the others wait.
   * @param renew returns null if the issuer has ended the grant: then the session has ended.
   * @throws Failure `unavailable` if another replica takes longer than six seconds.
   */
  renew(id: string, renew: (signedIn: SignedIn) => Promise<Tokens | null>): Promise<FoundSession | undefined>;
  remove(id: string): Promise<void>;
  /** The sessions of a person that have not ended, last used first. @param id of the current one. */
  listOf(person: string, id: string): Promise<OpenSession[]>;
  /**
   * Ends sessions of a person: the one with this handle, or all but the current one, and deletes their
   * tokens. Their rows stay for an hour: a form that is sent with their cookies is kept for the person.
   */
  endOf(person: string, which: { handle: string } | { exceptId: string }): Promise<void>;
  /** Deletes sessions that ended more than an hour ago. @returns their number. */
  removeOld(limit: number): Promise<number>;
}

export interface Tokens {
  signedIn: SignedIn;
  /** When the access token is to be renewed, before it expires. */
  renewAt: Date;
}

interface Options {
  db: Database;
  /** `console-session`: the first seals, all open. */
  keys: readonly Uint8Array[];
  idleSeconds: number;
  maxSeconds: number;
}

interface Row {
  person: string;
  sealed: Buffer;
  signedInAt: Date;
  renewAt: Date;
  ended: boolean;
}

/** Renewals at a time, of any sessions. */
const maxRenewals = 4;
/** Sessions of a person; with a further one the longest unused ends. */
const maxOfPerson = 50;

/** A form that is sent within this time after the end of a session is kept for its person. */
const rememberedSeconds = 3_600;

/**
 * Keeps sessions in PostgreSQL. Rows are found by the SHA-256 of the cookie, and their tokens are sealed with
 * a key that is derived from the secret and the cookie: neither of the two opens them alone.
 */
export function createSessionStore({ db, keys, idleSeconds, maxSeconds }: Options): SessionStore {
  const boxOf = (id: string) => createSecretBox(keys, `accord console session ${id}`);
  const isOlderThan = (column: Statement, seconds: number) =>
    sql`${column} < clock_timestamp() - make_interval(secs => ${seconds})`;
  const ended = sql`(ended_at IS NOT NULL OR ${isOlderThan(sql`used_at`, idleSeconds)}
      OR ${isOlderThan(sql`signed_in_at`, maxSeconds)})`;
  const handle = sql`left(encode(sha256(id), 'hex'), 16)`;
  const read = (queries: Queries, id: string, lock: Statement = empty) =>
    queries.maybeOne<Row>(sql`
      SELECT person, sealed, signed_in_at AS "signedInAt", renew_at AS "renewAt",
             ${ended} AS ended
        FROM sessions WHERE id = ${hashOf(id)} ${lock}`);

  function open(id: string, row: Row | undefined): FoundSession | undefined {
    if (!row) return undefined;
    const { person, signedInAt, renewAt } = row;
    if (row.ended) return { ended: true, person };
    try {
      const signedIn = JSON.parse(boxOf(id).open('tokens', row.sealed)) as SignedIn;
      return { ended: false, person, signedInAt, renewAt, signedIn };
    } catch {
      // The secret was replaced.
      return { ended: true, person };
    }
  }

  /** Renewals of this process, so that many tabs need one connection. */
  const renewals = new Map<string, Promise<FoundSession | undefined>>();
  /** Renewals hold a connection while the issuer answers, so most connections are left to others. */
  const renewing = createKeyedLimiter({ perKey: 1, total: maxRenewals });
  const renewLocked = (id: string, renew: (signedIn: SignedIn) => Promise<Tokens | null>) =>
    db.withTransaction(async (tx): Promise<FoundSession | undefined> => {
      // The issuer may be slower than the lock time-out of other statements.
      await tx.query(sql`
        SELECT set_config('lock_timeout', '6s', true), set_config('statement_timeout', '6500ms', true)`);
      const found = open(id, await read(tx, id, sql`FOR UPDATE`));
      if (!found || found.ended || !isDue(found.renewAt)) return found;
      const tokens = await renew(found.signedIn);
      if (!tokens) {
        await tx.query(sql`
          UPDATE sessions SET ended_at = clock_timestamp(), sealed = '' WHERE id = ${hashOf(id)}`);
        return { ended: true, person: found.person };
      }
      await tx.query(sql`
        UPDATE sessions
           SET sealed = ${seal(id, tokens.signedIn)}, renew_at = ${tokens.renewAt}
         WHERE id = ${hashOf(id)}`);
      return { ...found, ...tokens };
    });

  const seal = (id: string, signedIn: SignedIn) => boxOf(id).seal('tokens', JSON.stringify(signedIn));

  return {
    async create(person, { signedIn, renewAt }, { since, device = '' } = {}) {
      const id = randomBytes(32).toString('base64url');
      await db.query(sql`
        INSERT INTO sessions (id, person, sealed, device, renew_at, signed_in_at)
        VALUES (${hashOf(id)}, ${person}, ${seal(id, signedIn)}, ${device}, ${renewAt},
                coalesce(${since ?? null}::timestamptz, clock_timestamp()))`);
      await db.query(sql`
        DELETE FROM sessions WHERE id IN (
          SELECT id FROM sessions WHERE person = ${person} ORDER BY used_at DESC OFFSET ${maxOfPerson})`);
      return id;
    },
    async find(id) {
      const found = open(id, await read(db, id));
      if (found && !found.ended)
        await db.query(sql`
          UPDATE sessions SET used_at = clock_timestamp()
           WHERE id = ${hashOf(id)} AND ${isOlderThan(sql`used_at`, idleSeconds / 30)}`);
      return found;
    },
    renew(id, renew) {
      const inTurn = async () => {
        const leave = await renewing.enter(id, AbortSignal.any([]));
        return renewLocked(id, renew).finally(leave);
      };
      const underWay = renewals.get(id) ?? inTurn().finally(() => renewals.delete(id));
      renewals.set(id, underWay);
      return underWay;
    },
    async remove(id) {
      await db.query(sql`DELETE FROM sessions WHERE id = ${hashOf(id)}`);
    },
    listOf(person, id) {
      return db.query<OpenSession>(sql`
        SELECT ${handle} AS handle, signed_in_at AS "signedInAt", used_at AS "usedAt",
               id = ${hashOf(id)} AS "isCurrent", device
          FROM sessions WHERE person = ${person} AND NOT ${ended} ORDER BY used_at DESC LIMIT 100`);
    },
    async endOf(person, which) {
      const isMeant =
        'handle' in which ? sql`${handle} = ${which.handle}` : sql`id <> ${hashOf(which.exceptId)}`;
      await db.query(sql`
        UPDATE sessions SET ended_at = clock_timestamp(), sealed = ''
         WHERE person = ${person} AND NOT ${ended} AND ${isMeant}`);
    },
    async removeOld(limit) {
      const rows = await db.query(sql`
        DELETE FROM sessions WHERE id IN (
          SELECT id FROM sessions
           WHERE ${isOlderThan(sql`ended_at`, rememberedSeconds)}
              OR ${isOlderThan(sql`used_at`, idleSeconds + rememberedSeconds)}
              OR ${isOlderThan(sql`signed_in_at`, maxSeconds + rememberedSeconds)}
           LIMIT ${limit})
        RETURNING 1`);
      return rows.length;
    },
  };
}

/** Whether an access token must be renewed before it is used. @param renewAt of the session. */
export function isDue(renewAt: Date): boolean {
  return renewAt.getTime() <= Date.now();
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
