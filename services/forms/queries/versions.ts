import type { Queries } from '#lib/db/database.ts';
import { empty, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import type { Serial } from '../domain/identifiers.ts';
import type { Entry, Version, VersionData, VersionKind, VersionSummary } from '../domain/model.ts';
import { entryColumns } from './models.ts';

const versionColumns = sql`v.id, v.model, v.status, v.kind, v.reason, v.major, v.minor, v.default_language AS "defaultLanguage", v.data,
  v.revision, v.created_at AS "createdAt", v.modified_at AS "modifiedAt"`;

export interface DraftContent {
  defaultLanguage: string;
  data: VersionData;
  /** The references of a layout. */
  uses: readonly string[];
}

/** Inserts a draft; undefined if the entry has one. */
export function insertDraft(
  tx: Queries,
  { id, model, kind, ...content }: DraftContent & { id: string; model: string; kind: VersionKind },
): Promise<Version | undefined> {
  return tx.maybeOne<Version>(sql`
    INSERT INTO model_versions AS v (id, model, status, kind, default_language, data, uses, created_at, modified_at)
    VALUES (${id}, ${model}, 'DRAFT', ${kind}, ${content.defaultLanguage}, ${content.data}, ${content.uses}::text[], accord_now(), accord_now())
    ON CONFLICT (model) WHERE status = 'DRAFT' DO NOTHING
    RETURNING ${versionColumns}`);
}

export function updateDraft(
  tx: Queries,
  id: string,
  { defaultLanguage, data, uses }: DraftContent,
): Promise<Version> {
  return tx.one<Version>(sql`
    UPDATE model_versions AS v
       SET default_language = ${defaultLanguage}, data = ${data}, uses = ${uses}::text[], revision = v.revision + 1,
           modified_at = accord_now()
     WHERE v.id = ${id} RETURNING ${versionColumns}`);
}

export function updateKind(
  tx: Queries,
  id: string,
  { kind, reason }: Pick<Version, 'kind' | 'reason'>,
): Promise<Version> {
  return tx.one<Version>(sql`
    UPDATE model_versions AS v SET kind = ${kind}, reason = ${reason}, revision = v.revision + 1, modified_at = accord_now()
     WHERE v.id = ${id} RETURNING ${versionColumns}`);
}

export async function deleteDraft(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM model_versions WHERE id = ${id}`);
}

/** Archives the ACTIVE version of an entry, if there is one. */
export async function archiveActive(tx: Queries, model: string): Promise<void> {
  await tx.query(sql`
    UPDATE model_versions AS v
       SET status = 'ARCHIVED', archived_at = accord_now(), revision = v.revision + 1, modified_at = accord_now()
     WHERE v.model = ${model} AND v.status = 'ACTIVE'`);
}

/** Activates a draft and its entry. The former version must be archived before. */
export async function activateDraft(
  tx: Queries,
  { id, model }: Version,
  { major, minor }: Serial,
): Promise<{ version: Version; entry: Entry }> {
  const version = await tx.one<Version>(sql`
    UPDATE model_versions AS v
       SET status = 'ACTIVE', major = ${major}, minor = ${minor}, kind = ${minor === 0 ? 'MAJOR' : 'MINOR'}, activated_at = accord_now(),
           revision = v.revision + 1, modified_at = accord_now()
     WHERE v.id = ${id} RETURNING ${versionColumns}`);
  const entry = await tx.one<Entry>(sql`
    UPDATE models AS m
       SET status = 'ACTIVE', active_version = ${id}, active_major = ${major}, active_minor = ${minor},
           last_major = ${major}, last_minor = ${minor}, revision = m.revision + 1, modified_at = accord_now()
     WHERE m.id = ${model} RETURNING ${entryColumns}`);
  return { version, entry };
}

/** Sets an entry INACTIVE after its ACTIVE version was archived. */
export function deactivateModel(tx: Queries, id: string): Promise<Entry> {
  return tx.one<Entry>(sql`
    UPDATE models AS m
       SET status = 'INACTIVE', active_version = NULL, active_major = NULL, active_minor = NULL, revision = m.revision + 1,
           modified_at = accord_now()
     WHERE m.id = ${id} RETURNING ${entryColumns}`);
}

export function readVersion(db: Queries, model: string, id: string): Promise<Version | undefined> {
  return db.maybeOne<Version>(sql`
    SELECT ${versionColumns} FROM model_versions AS v WHERE v.model = ${model} AND v.id = ${id}`);
}

/** The version activated last, which a MINOR is compared with. */
export function readLastActivated(db: Queries, model: string): Promise<Version | undefined> {
  return db.maybeOne<Version>(sql`
    SELECT ${versionColumns} FROM model_versions AS v
     WHERE v.model = ${model} AND v.major IS NOT NULL ORDER BY v.major DESC, v.minor DESC LIMIT 1`);
}

/**
 * All versions of the given entries without their content, newest first: drafts before activated versions.
 */
export function readVersionSummaries(db: Queries, models: readonly string[]): Promise<VersionSummary[]> {
  return db.query<VersionSummary>(sql`
    SELECT v.id, v.model, v.status, v.kind, v.reason, v.major, v.minor, v.default_language AS "defaultLanguage", v.revision,
           v.created_at AS "createdAt", v.modified_at AS "modifiedAt",
           ARRAY(SELECT k FROM jsonb_object_keys(v.data) AS k ORDER BY k) AS languages
      FROM model_versions AS v
     WHERE v.model = ANY(${models}::uuid[]) ORDER BY v.model, v.created_at DESC, v.id DESC`);
}

/** A version and its position in a list, for cursors. */
export type ListedVersion = Version & { position: string };

/** A page of an entry's versions with their content, newest first. */
export function listVersions(
  db: Queries,
  model: string,
  { limit, after }: { limit: number; after: Position | undefined },
): Promise<ListedVersion[]> {
  return db.query<ListedVersion>(sql`
    SELECT ${versionColumns}, to_char(v.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00' AS position
      FROM model_versions AS v
     WHERE v.model = ${model}
           ${after ? sql`AND (v.created_at, v.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)` : empty}
     ORDER BY v.created_at DESC, v.id DESC LIMIT ${limit}`);
}

/** All versions of an entry with their content, newest first. */
export function readVersions(db: Queries, model: string): Promise<Version[]> {
  return db.query<Version>(sql`
    SELECT ${versionColumns} FROM model_versions AS v WHERE v.model = ${model} ORDER BY v.created_at DESC, v.id DESC`);
}
