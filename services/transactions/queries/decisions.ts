import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { AnswerAt } from '../domain/decision.ts';
import { isRestricted } from './holds.ts';

/** Whose answer to read, and as of when. */
export interface Probe {
  subject: string;
  /** Empty for none. */
  object: string;
  key: string;
  /** Now if absent. */
  asOf: Date | undefined;
}

/** What a probe found. */
export interface Probed {
  asOf: Date;
  restricted: boolean;
  answer: AnswerAt | undefined;
}

type Row = { asOf: Date; restricted: boolean } & ({ record: null } | AnswerAt);

/**
 * The newest answer that was committed by a time, for each probe in order: two index probes each at most. A
 * refusal itself says what it withdraws, because retention erases the accepted record earlier. A refusal may
 * have no `withdraws`: it was stored before migration 0017, or the acceptance that it ended arrived after it.
 * It is compared with the answer before it.
 */
export async function readAnswersAt(db: Queries, probes: readonly Probe[]): Promise<Probed[]> {
  const rows = await db.query<Row>(sql`
    SELECT q.as_of AS "asOf", ${isRestricted(sql`q.subject`, sql`q.as_of`)} AS restricted, r.record, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
           r.refused, r.withdraws IS NOT NULL OR coalesce(p.accepted, false) AS withdraws, r.of_peer AS "ofPeer", r.given, r.expires
      FROM (SELECT w.place, w.subject, w.object, w.key, coalesce(w.as_of, n.now) AS as_of
              FROM unnest(${probes.map(({ subject }) => subject)}::text[],
                          ${probes.map(({ object }) => object)}::text[],
                          ${probes.map(({ key }) => key)}::text[],
                          ${probes.map(({ asOf }) => asOf?.toISOString() ?? null)}::timestamptz[])
                     WITH ORDINALITY AS w (subject, object, key, as_of, place),
                   accord_now() AS n (now)) AS q
      LEFT JOIN LATERAL (
           SELECT r.id AS record, r.serial, r.info_key, r.info_serial, r.origin = 'PEER' AS of_peer, r.id, r.withdraws,
                  r.positions IS NOT NULL AND r.value[1] = 'refused' AS refused,
                  r.committed_at AS given, r.expires_at AS expires
             FROM records AS r
            WHERE r.state = 'COMMITTED' AND r.subject = q.subject AND r.object = q.object AND r.key = q.key
              AND r.committed_at <= q.as_of
            ORDER BY r.committed_at DESC, r.id DESC
            LIMIT 1) AS r ON true
      LEFT JOIN LATERAL (
           SELECT p.value[1] = 'accepted' AS accepted
             FROM records AS p
            WHERE r.refused AND r.withdraws IS NULL AND p.state = 'COMMITTED' AND p.subject = q.subject AND p.object = q.object
              AND p.key = q.key AND (p.committed_at, p.id) < (r.given, r.id)
            ORDER BY p.committed_at DESC, p.id DESC
            LIMIT 1) AS p ON true
     ORDER BY q.place`);
  return rows.map(({ asOf, restricted, ...answer }) => ({
    asOf,
    restricted,
    answer: answer.record === null ? undefined : answer,
  }));
}
