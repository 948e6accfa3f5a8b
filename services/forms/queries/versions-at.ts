import type { VersionAt } from '#lib/contracts/versions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';

interface KeyedVersion extends VersionAt {
  key: string;
}

/** SQL: the version of the entry `m` that was ACTIVE at a time. A version is activated once at most. */
const activeAt = (at: string | undefined): Statement => sql`
  SELECT v.major, v.data, v.default_language
    FROM model_versions AS v,
         coalesce(${at ?? null}::timestamptz, accord_now()) AS wanted (at)
   WHERE v.model = m.id AND v.activated_at <= wanted.at
     AND (v.archived_at IS NULL OR v.archived_at > wanted.at)`;

/** SQL: whether the version `v` is a processing to which people may object. */
const isObjection = sql`
  coalesce(v.data -> v.default_language ->> 'choice' = 'OBJECTION', false) AS "isObjection"`;

/** Own entries at a time, now if absent; unknown keys are left out. */
export function readVersionsAt(
  db: Queries,
  keys: readonly string[],
  at: string | undefined,
): Promise<KeyedVersion[]> {
  return db.query<KeyedVersion>(sql`
    SELECT m.key, m.type, v.major, NULL AS owner, ${isObjection}
      FROM models AS m LEFT JOIN LATERAL (${activeAt(at)}) AS v ON true
     WHERE m.key = ANY(${keys}::text[])`);
}

/**
 * The owners of peers' entries that this instance has a copy of.
 * @param references `<key>@<host[:port]>`
 */
export function readOwners(db: Queries, references: readonly string[]): Promise<KeyedVersion[]> {
  return db.query<KeyedVersion>(sql`
    SELECT e.key || '@' || p.host AS key, e.type, e.active_major AS major, p.url AS owner,
           false AS "isObjection"
      FROM peers AS p JOIN peer_entries AS e ON e.peer = p.url
     WHERE e.key || '@' || p.host = ANY(${references}::text[])`);
}

/** The own processings that had one of these purposes at a time, now if absent; by key. */
export function readPurposes(
  db: Queries,
  purposes: readonly string[],
  at: string | undefined,
): Promise<(KeyedVersion & { purpose: string })[]> {
  return db.query<KeyedVersion & { purpose: string }>(sql`
    SELECT p.purpose, m.key, m.type, v.major, NULL AS owner, ${isObjection}
      FROM models AS m
      JOIN LATERAL (${activeAt(at)}) AS v ON true
      JOIN unnest(${purposes}::text[]) AS p (purpose) ON v.data -> v.default_language -> 'purposes' ? p.purpose
     WHERE m.type = 'processing'
     ORDER BY m.key`);
}
