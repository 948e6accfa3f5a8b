import type { JWK } from 'jose';
import type { AnswerableType } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { StoredVersion } from '../domain/content-version.ts';
import type { ElementReference, Serial } from '../domain/identifiers.ts';
import { type ActiveRow, readActive, type SerialRow, selectActive, type Wanted } from './active-entries.ts';

/** A shared entry of a peer as every form request reads it. Its content is cached by version. */
export interface PeerRow extends Serial {
  url: string;
  host: string;
  /** The peer's name. */
  owner: string;
  /** Whether another peer has a name that looks the same. */
  isNamesake: boolean;
  asOf: Date;
  /** Seconds since the copy was last confirmed. */
  age: number;
  id: string;
  key: string;
  type: 'information' | AnswerableType;
  name: string;
  version: string;
  /**
   * The public JWK that answers to the owner are sealed to. Null in entries of elements: it is read with the
   * entry of the information, without which no answer is possible.
   */
  sealingKey: JWK | null;
}

/** The named entries, and the information of each of their peers. No query without references. */
export async function readPeerRows(db: Queries, references: readonly ElementReference[]): Promise<PeerRow[]> {
  return references.some(isOfPeer) ? db.query<PeerRow>(selectPeerRows(references)) : [];
}

/** The rows of a layout: own entries, and peers' entries with their information. */
export interface NamedRows {
  rows: ActiveRow[];
  peers: PeerRow[];
}

/**
 * Reads own and peers' entries with one query, because forms with peers' elements need both at every request.
 */
export async function readNamed(
  db: Queries,
  wanted: Wanted,
  references: readonly ElementReference[],
): Promise<NamedRows> {
  if (!references.some(isOfPeer)) return { rows: await readActive(db, wanted), peers: [] };
  const { rows, peers } = await db.one<{
    rows: ActiveRow[] | null;
    peers: (Omit<PeerRow, 'asOf'> & { asOf: string })[] | null;
  }>(sql`
    SELECT (SELECT json_agg(o) FROM (${selectActive(wanted)}) AS o) AS rows,
           (SELECT json_agg(s) FROM (${selectPeerRows(references)}) AS s) AS peers`);
  return { rows: rows ?? [], peers: (peers ?? []).map((row) => ({ ...row, asOf: new Date(row.asOf) })) };
}

function isOfPeer({ host }: ElementReference): boolean {
  return host !== null;
}

function selectPeerRows(references: readonly ElementReference[]): Statement {
  const named = references.filter(isOfPeer);
  const from = sql`
    SELECT p.url, p.host, p.name AS owner, p.as_of AS "asOf", extract(epoch FROM accord_now() - p.as_of)::float8 AS age,
           EXISTS (SELECT FROM peers AS o WHERE o.appearance = p.appearance AND o.url <> p.url) AS "isNamesake",
           e.id, e.key, e.type, e.name, e.active_version AS version, e.active_major AS major, e.active_minor AS minor,
           CASE WHEN e.type = 'information' THEN p.sealing_key END AS "sealingKey"
      FROM peers AS p JOIN peer_entries AS e ON e.peer = p.url`;
  const hosts = named.map(({ host }) => host);
  return sql`
    ${from} JOIN unnest(${hosts}::text[], ${named.map(({ key }) => key)}::text[]) AS n (host, key)
              ON n.host = p.host AND n.key = e.key
    UNION
    ${from} WHERE p.host = ANY(${hosts}::text[]) AND e.type = 'information'
    ORDER BY key`;
}

/**
 * Reads versions of peers' elements by serial.
 * @param since RFC 3339: when the transaction was created.
 */
export async function readPeerSerials(
  db: Queries,
  wanted: readonly (ElementReference & Serial)[],
  since: string,
): Promise<(SerialRow & { host: string })[]> {
  if (wanted.length === 0) return [];
  return db.query<SerialRow & { host: string }>(sql`
    SELECT v.id, e.type, p.host, e.key, v.major || '.' || v.minor AS serial,
           v.major = e.active_major AND (v.archived_at IS NULL OR v.archived_at >= ${since}::timestamptz) AS accepted
      FROM unnest(${wanted.map(({ host }) => host)}::text[], ${wanted.map(({ key }) => key)}::text[],
                  ${wanted.map(({ major }) => major)}::int[], ${wanted.map(({ minor }) => minor)}::int[]) AS w (host, key, major, minor)
      JOIN peers AS p ON p.host = w.host
      JOIN peer_entries AS e ON e.peer = p.url AND e.key = w.key
      JOIN peer_versions AS v ON v.entry = e.id AND v.major = w.major AND v.minor = w.minor`);
}

/** Content of peers' versions, which never changes. */
export function readPeerContents(db: Queries, ids: readonly string[]): Promise<StoredVersion[]> {
  return db.query<StoredVersion>(sql`
    SELECT v.id, e.type, e.key, p.host, v.major || '.' || v.minor AS serial, v.default_language AS "defaultLanguage", v.data
      FROM peer_versions AS v JOIN peer_entries AS e ON e.id = v.entry JOIN peers AS p ON p.url = e.peer
     WHERE v.id = ANY(${ids}::uuid[])`);
}
