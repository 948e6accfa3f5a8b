import type { Queries } from '#lib/db/database.ts';
import { empty, sql } from '#lib/db/sql.ts';
import type { Serial } from '../domain/identifiers.ts';
import type { Entry, VersionData } from '../domain/model.ts';
import type { StandingModel } from '../domain/plan-model.ts';
import { entryColumns } from './models.ts';

type Row = Entry & {
  hasDraft: boolean;
  former: (Serial & { id: string; defaultLanguage: string; data: VersionData }) | null;
};

/** Models with the version that was activated last. */
export async function readStanding(db: Queries, keys: readonly string[]): Promise<StandingModel[]> {
  const rows = await db.query<Row>(sql`
    SELECT ${entryColumns},
           EXISTS (SELECT FROM model_versions AS d WHERE d.model = m.id AND d.status = 'DRAFT') AS "hasDraft",
           (SELECT json_build_object('id', v.id, 'major', v.major, 'minor', v.minor, 'defaultLanguage', v.default_language, 'data', v.data)
              FROM model_versions AS v
             WHERE v.model = m.id AND v.major IS NOT NULL ORDER BY v.major DESC, v.minor DESC LIMIT 1) AS former
      FROM models AS m WHERE m.key = ANY(${keys}::text[])`);
  return rows.map(({ hasDraft, former, ...entry }) => ({ entry, hasDraft, former: former ?? undefined }));
}

/** Reads one model as {@link readStanding}, after locking its entry. */
export async function lockStanding(tx: Queries, key: string): Promise<StandingModel | undefined> {
  await tx.query(sql`SELECT FROM models AS m WHERE m.key = ${key} FOR UPDATE`);
  return (await readStanding(tx, [key]))[0];
}

/** Keys of the ACTIVE models other than these. */
export async function readOtherKeys(db: Queries, keys: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ key: string }>(sql`
    SELECT m.key FROM models AS m WHERE m.status = 'ACTIVE' AND m.key <> ALL(${keys}::text[]) ORDER BY m.key`);
  return rows.map(({ key }) => key);
}

/** An ACTIVE layout, and what it names: keys, and of themes and mails also ids. */
interface LayoutUse {
  key: string;
  uses: string[];
  /** Whether it has an information of its own. */
  hasInfo: boolean;
}

/** The ACTIVE layouts that name one of these, or that have no information of their own. */
export function readLayoutUses(
  db: Queries,
  references: readonly string[],
  withoutInfo: boolean,
): Promise<LayoutUse[]> {
  return db.query<LayoutUse>(sql`
    SELECT m.key, v.uses, v.data -> v.default_language ->> 'info' IS NOT NULL AS "hasInfo"
      FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE v.status = 'ACTIVE' AND m.type = 'layout'
       AND (v.uses && ${references}::text[] ${withoutInfo ? sql`OR v.data -> v.default_language ->> 'info' IS NULL` : empty})
     ORDER BY m.key`);
}

/** This instance's peers: ids and hosts. */
export async function readPeerHosts(db: Queries): Promise<{ id: string; host: string }[]> {
  const rows = await db.query<{ id: string; url: string }>(sql`
    SELECT n.id, n.url FROM known_peers AS k, unnest(k.ids, k.urls) AS n (id, url)`);
  return rows.map(({ id, url }) => ({ id, host: new URL(url).host }));
}
