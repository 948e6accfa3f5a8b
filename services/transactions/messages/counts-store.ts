import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { HourlyMessages, HourlyRoom, RecentMessages } from './limits.ts';

/** SQL: 0 without a time. A request that has waited for a lock may find times after its own. */
function secondsSince(time: Statement): Statement {
  return sql`coalesce(greatest(extract(epoch FROM accord_now() - ${time}), 0), 0)::float8`;
}

interface Counted {
  /** Keyed digest of the address. */
  address: Buffer;
  /** Country calling code; null for mail. */
  prefix: string | null;
  causedBy?: string | null;
  /**
   * False: nothing is locked. A sender that has locked several people must not wait for an address, and sends
   * so few messages to one that a limit is hardly ever exceeded.
   */
  isExact?: boolean;
}

/**
 * Counts recent messages. Locks the address, and then, for a text message, all text messages until the end of
 * the database transaction: parallel requests cannot exceed a limit together. A plain user needs no lock,
 * because it has one address and one number.
 */
export async function countRecentMessages(
  tx: Queries,
  { address, prefix, causedBy = null, isExact = true }: Counted,
): Promise<RecentMessages> {
  if (isExact)
    await tx.query(sql`SELECT pg_advisory_xact_lock(${address.readInt32BE(0)}, ${address.readInt32BE(4)})`);
  if (isExact && prefix !== null) await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('sms'), 0)`);
  const user = causedBy?.startsWith('user:') ? causedBy : null;
  return tx.one<RecentMessages>(sql`
    SELECT r.*, s.*, a.*
      FROM (SELECT count(*) FILTER (WHERE m.kind <> 'choices')::int AS messages, count(*) FILTER (WHERE m.kind = 'code')::int AS codes,
                   ${secondsSince(sql`min(m.created_at) FILTER (WHERE m.kind <> 'choices')`)} AS "oldestMessage",
                   ${secondsSince(sql`min(m.created_at) FILTER (WHERE m.kind = 'code')`)} AS "oldestCode",
                   count(*) FILTER (WHERE m.kind = 'choices')::int AS choices,
                   count(*) FILTER (WHERE m.kind = 'choices' AND m.created_at > accord_now() - interval '1 hour')::int
                     AS "choicesOfHour"
              FROM messages AS m
             WHERE m.address = ${address} AND m.created_at > accord_now() - interval '1 day'
               AND m.error IS DISTINCT FROM 'limit') AS r
     CROSS JOIN (SELECT count(*) FILTER (WHERE m.prefix = ${prefix})::int AS "toPrefix", count(*)::int AS sms,
                        ${secondsSince(sql`min(m.created_at) FILTER (WHERE m.prefix = ${prefix})`)} AS "oldestToPrefix",
                        ${secondsSince(sql`min(m.created_at)`)} AS "oldestSms"
                   FROM messages AS m
                  WHERE ${prefix}::text IS NOT NULL AND m.prefix IS NOT NULL
                    AND m.created_at > accord_now() - interval '1 hour') AS s
     CROSS JOIN (SELECT count(*)::int AS "ofUser", ${secondsSince(sql`min(m.created_at)`)} AS "oldestOfUser"
                   FROM messages AS m
                  WHERE m.created_by = ${user} AND m.counted_at > accord_now() - interval '1 day') AS a`);
}

interface CountedHour {
  causedBy: string | null;
  room: HourlyRoom;
}

/** SQL: when the newest messages began to count that match and count in the last hour, at most `limit`. */
function countedIn(match: Statement, limit: Statement): Statement {
  return sql`(SELECT m.counted_at FROM messages AS m
               WHERE ${match} AND m.counted_at > accord_now() - interval '1 hour' AND m.counted_at < 'infinity'
               ORDER BY m.counted_at DESC LIMIT ${limit})`;
}

const isMail = sql`m.channel = 'mail'`;
const waits = sql`m.counted_at = 'infinity'`;

function countOnce(tx: Queries, { causedBy, room }: CountedHour): Promise<HourlyMessages> {
  const ofCreator = sql`m.created_by = ${causedBy}::text`;
  return tx.one<HourlyMessages>(sql`
    SELECT a.*, c.*,
           EXISTS (SELECT FROM messages AS m WHERE ${ofCreator} AND ${waits}) AS "areWaiting"
      FROM (SELECT count(*)::int AS mails, ${secondsSince(sql`min(m.counted_at)`)} AS "oldestMail"
              FROM ${countedIn(isMail, sql`${room.mails ?? 0}`)} AS m) AS a
     CROSS JOIN (SELECT count(*)::int AS "ofCreator", ${secondsSince(sql`min(m.counted_at)`)} AS "oldestOfCreator"
                   FROM ${countedIn(ofCreator, sql`${room.creator}`)} AS m) AS c`);
}

/**
 * So many requests may queue messages at the same moment. Only this close to a limit they are counted one
 * after the other: otherwise all COMMITs with a message would wait for one another.
 */
const margin = 500;

function lockHourly(tx: Queries): Promise<unknown> {
  return tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('messages of the hour'), 0)`);
}

/**
 * Counts the messages of the last hour, up to the room.
 * @param isExact near a limit, locks the counts until the end of the database transaction, so that parallel
 * requests cannot exceed the limit together. Otherwise a message waits near the limit for
 * {@link releaseWaiting}, which counts exactly: one request may lock several addresses, and another lock
 * between them could end in a deadlock.
 */
export async function countHourly(
  tx: Queries,
  { isExact, ...about }: CountedHour & { isExact: boolean },
): Promise<HourlyMessages> {
  const { room, causedBy } = about;
  const counted = await countOnce(tx, about);
  const isNear =
    (room.mails !== null && counted.mails > room.mails - margin) ||
    (causedBy !== null && counted.ofCreator > room.creator - margin);
  if (!isNear) return counted;
  if (!isExact) return { ...counted, areWaiting: true };
  await lockHourly(tx);
  return countOnce(tx, about);
}

/**
 * Lets waiting messages be sent as far as the hourly limits allow it: of each creator the oldest first, and
 * one of each before the second of any.
 * @returns how many, at most `batch`.
 */
export async function releaseWaiting(
  tx: Queries,
  { room, batch }: { room: HourlyRoom; batch: number },
): Promise<number> {
  const [any] = await tx.query(sql`SELECT FROM messages AS m WHERE ${waits} LIMIT 1`);
  if (!any) return 0;
  await lockHourly(tx);
  const countOf = (match: Statement, limit: number) =>
    sql`(SELECT count(*) FROM ${countedIn(match, sql`${limit}`)} AS m)`;
  const nextCreator = (after: Statement) => sql`
    (SELECT m.created_by FROM messages AS m WHERE ${waits} AND ${after} ORDER BY m.created_by LIMIT 1)`;
  const released = await tx.query(sql`
    WITH RECURSIVE creators AS (
      SELECT ${nextCreator(sql`true`)} AS creator
      UNION ALL
      SELECT ${nextCreator(sql`m.created_by > c.creator`)} FROM creators AS c WHERE c.creator IS NOT NULL
    ), allowed AS (
      SELECT h.id FROM creators AS c CROSS JOIN LATERAL (
             SELECT m.id, row_number() OVER (ORDER BY m.created_at, m.id) AS place
               FROM messages AS m WHERE ${waits} AND m.created_by = c.creator
              ORDER BY m.created_at, m.id
              LIMIT CASE WHEN c.creator = '' THEN ${batch}
                         ELSE least(${batch}, ${room.creator} - ${countOf(sql`m.created_by = c.creator`, room.creator)}) END) AS h
       ORDER BY h.place
       LIMIT least(${batch}, ${room.mails} - ${countOf(isMail, room.mails ?? 0)})
    )
    UPDATE messages AS m SET counted_at = accord_now(), not_before = accord_now(), error = NULL
      FROM allowed AS a WHERE m.id = a.id AND ${waits}
    RETURNING m.id`);
  return released.length;
}
