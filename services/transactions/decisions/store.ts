import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { isInForce } from '../person/positions-sql.ts';
import { isRestricted } from '../standing/holds-store.ts';
import type { AnswerAt } from './decision.ts';

/** Whose answer to read, and as of when. */
export interface Probe {
  subject: string;
  /** Empty for none. */
  object: string;
  key: string;
  /** Now if absent. */
  asOf: Date | undefined;
  /** The person's position as an earlier decision states it; then `asOf` does not choose the answer. */
  position: number | undefined;
}

/** What a probe found. */
export interface Probed {
  asOf: Date;
  /** The person's position that was seen, or that was asked for. */
  position: number;
  restricted: boolean;
  answer: AnswerAt | undefined;
}

type Row = Omit<Probed, 'answer'> & ({ record: null } | AnswerAt);

/**
 * The answer that was in force for each probe in order: one index look-up each, or two for the past.
 */
export async function readAnswersAt(db: Queries, probes: readonly Probe[]): Promise<Probed[]> {
  const ended = sql`r.state = 'COMMITTED' AND r.subject = q.subject AND r.object = q.object AND r.key = q.key
                    AND r.until_position IS NOT NULL`;
  const rows = await db.query<Row>(sql`
    SELECT q.as_of AS "asOf", coalesce(q.position, s.position, 0) AS position,
           ${isRestricted(sql`q.subject`, sql`q.as_of`, sql`q.position`)} AS restricted, r.id AS record, r.serial,
           r.info_key AS "infoKey", r.info_serial AS "infoSerial",
           r.positions IS NOT NULL AND r.value[1] = 'refused' AS refused, r.withdraws IS NOT NULL AS withdraws,
           r.origin = 'PEER' AS "ofPeer", r.origin = 'IMPORTED' AS "isImported", r.committed_at AS given, r.expires_at AS expires
      FROM (SELECT w.place, w.subject, w.object, w.key, w.position, w.as_of IS NULL AS is_now,
                   coalesce(w.as_of, n.now) AS as_of
              FROM unnest(${probes.map(({ subject }) => subject)}::text[],
                          ${probes.map(({ object }) => object)}::text[],
                          ${probes.map(({ key }) => key)}::text[],
                          ${probes.map(({ asOf }) => asOf?.toISOString() ?? null)}::timestamptz[],
                          ${probes.map(({ position }) => position ?? null)}::bigint[])
                     WITH ORDINALITY AS w (subject, object, key, as_of, position, place),
                   accord_now() AS n (now)) AS q
      LEFT JOIN subjects AS s ON s.name = q.subject
      LEFT JOIN LATERAL (
        (SELECT r.* FROM records AS r
          WHERE r.subject = q.subject AND r.object = q.object AND r.key = q.key AND ${isInForce}
            AND CASE WHEN q.position IS NOT NULL THEN r.from_position <= q.position
                     ELSE q.is_now OR r.from_at <= q.as_of END)
         UNION ALL
        (SELECT f.* FROM (SELECT r.* FROM records AS r WHERE q.position IS NOT NULL AND ${ended}
                             AND r.until_position > q.position ORDER BY r.until_position LIMIT 1) AS f
          WHERE f.from_position <= q.position)
         UNION ALL
        (SELECT f.* FROM (SELECT r.* FROM records AS r WHERE q.position IS NULL AND NOT q.is_now AND ${ended}
                             AND r.until_at > q.as_of ORDER BY r.until_at, r.until_position LIMIT 1) AS f
          WHERE f.from_at <= q.as_of)) AS r ON true
     ORDER BY q.place`);
  return rows.map(({ asOf, position, restricted, ...answer }) => ({
    asOf,
    position,
    restricted,
    answer: answer.record === null ? undefined : answer,
  }));
}
