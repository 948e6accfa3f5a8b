import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { type TransactionRow, toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';

/** A transaction of the export, and how much memory its proof takes. */
export interface FoundTransaction {
  id: string;
  bytes: number;
}

/** Lines of the log, and transactions, that a request looks at, so that each takes as long. */
export const maxScanned = 5_000;

/** The number of sealed lines of the audit log. */
export async function readLogSize(db: Queries): Promise<number> {
  const { size } = await db.one<{ size: number }>(sql`SELECT t.size FROM audit_tree AS t`);
  return size;
}

const targetPrefix = 'transaction/';

/** The transactions whose receipts have a line of the audit log with these numbers, in their order. */
export function findLogged(
  db: Queries,
  { from, until, limit }: { from: number; until: number; limit: number },
): Promise<(FoundTransaction & { seq: number })[]> {
  return db.query(sql`
    SELECT l.id, l.seq, coalesce(octet_length(r.jws), 0) AS bytes
      FROM (SELECT a.seq, substr(a.target, ${targetPrefix.length + 1}::int) AS id FROM audit_log AS a
             WHERE a.seq >= ${from}::bigint AND a.seq < ${until}::bigint AND a.action = 'receipt.signed'
             ORDER BY a.seq LIMIT ${limit}) AS l
      LEFT JOIN receipts AS r ON r.transaction = l.id
     ORDER BY l.seq`);
}

/** Transactions without a line of the audit log, after a position. */
interface Unlogged {
  found: (FoundTransaction & { position: string })[];
  /** The last transaction that was looked at; null if no others follow. */
  last: { position: string; id: string } | null;
}

/**
 * Finds the transactions whose receipt has no line of the audit log, oldest first: they have no receipt, or
 * the retention of the log has blanked the line. A receipt whose line waits to be sealed is left out.
 */
export async function findUnlogged(
  db: Queries,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<Unlogged> {
  const later = after
    ? sql`WHERE (t.created_at, t.id) > (${after.createdAt}::timestamptz, ${after.id})`
    : sql``;
  return db.one<Unlogged>(sql`
    WITH scanned AS (
      SELECT t.id, t.created_at FROM transactions AS t ${later} ORDER BY t.created_at, t.id LIMIT ${maxScanned}
    ), found AS (
      SELECT s.id, s.created_at FROM scanned AS s
       WHERE s.id NOT IN (SELECT q.transaction FROM signed_receipts AS q)
         AND NOT EXISTS (SELECT FROM audit_log AS a
                          WHERE a.target = ${targetPrefix} || s.id AND a.action = 'receipt.signed')
       ORDER BY s.created_at, s.id LIMIT ${limit}
    )
    SELECT (SELECT coalesce(jsonb_agg(jsonb_build_object(
                     'id', f.id, 'position', f.created_at::text,
                     'bytes', coalesce(octet_length(r.jws), 0) + coalesce(octet_length(e.value), 0))
                     ORDER BY f.created_at, f.id), '[]'::jsonb)
              FROM found AS f
              LEFT JOIN receipts AS r ON r.transaction = f.id
              LEFT JOIN import_evidence AS e ON e.transaction = f.id) AS found,
           (SELECT jsonb_build_object('id', s.id, 'position', s.created_at::text)
              FROM scanned AS s ORDER BY s.created_at, s.id OFFSET ${maxScanned - 1}) AS last`);
}

/** A record as the export has it; times as PostgreSQL writes them in JSON. */
export interface ExportRecord {
  record: string;
  element: string;
  information: string;
  object: string | null;
  answers: string[];
  state: 'PENDING' | 'COMMITTED' | 'ROLLED_BACK' | 'ERASED';
  origin: string;
  author: string | null;
  comment: string | null;
  created: string;
  committed: string | null;
  expires: string | null;
  withdraws: string | null;
  /** When it was in force; null: never, and not ended. */
  from: string | null;
  until: string | null;
  endedBy: string | null;
  sourceId: string | null;
}

/** From where the answers of a transaction were taken over. */
export interface ExportSource {
  source: string;
  evidence: {
    kind: 'RECEIPT' | 'HASH' | 'URL';
    value: string;
    key: components['schemas']['Jwk'] | null;
  } | null;
  verified: boolean;
}

/** A transaction with what proves its answers. */
export interface ExportRow {
  read: ReadTransaction;
  jws: string | null;
  /** SHA-256 of an erased receipt, base64url. */
  erased: string | null;
  source: ExportSource | null;
  records: ExportRecord[];
}

/** Reads transactions by id, in this order; each is read as it was at one moment. */
export async function readExportRows(db: Queries, ids: readonly string[]): Promise<ExportRow[]> {
  const rows = await db.query<
    TransactionRow & Omit<ExportRow, 'read' | 'erased'> & { erased: Buffer | null }
  >(
    sql`
    SELECT ${transactionColumns}, accord_now() AS now, r.jws, e.digest AS erased, (${recordsOf}) AS records,
           CASE WHEN t.kind = 'IMPORT' THEN (${sourceOf}) END AS source
      FROM unnest(${ids}::text[]) WITH ORDINALITY AS i (id, place)
      JOIN transactions AS t ON t.id = i.id
      LEFT JOIN receipts AS r ON r.transaction = t.id
      LEFT JOIN erased_receipts AS e ON e.transaction = t.id
     ORDER BY i.place`,
  );
  return rows.map(({ jws, erased, source, records, ...row }) => ({
    read: toReadTransaction(row),
    jws,
    erased: erased?.toString('base64url') ?? null,
    source,
    records,
  }));
}

const recordsOf = sql`
  SELECT coalesce(jsonb_agg(jsonb_build_object(
           'record', r.id,
           'element', concat_ws('/', 'element', r.type, r.key, r.serial),
           'information', concat_ws('/', 'element', 'information', r.info_key, r.info_serial),
           'object', nullif(r.object, ''), 'answers', r.value, 'state', r.state, 'origin', r.origin,
           'author', nullif(r.author, ''), 'comment', r.comment, 'created', r.created_at,
           'committed', r.committed_at, 'expires', r.expires_at, 'withdraws', r.withdraws,
           'from', r.from_at, 'until', r.until_at,
           'endedBy', CASE WHEN r.state <> 'ERASED' THEN r.ended_by END,
           'sourceId', (SELECT a.source_id FROM imported_answers AS a WHERE a.record = r.id))
           ORDER BY r.key), '[]'::jsonb)
    FROM records AS r WHERE r.transaction = t.id`;

const sourceOf = sql`
  SELECT jsonb_build_object(
           'source', a.source, 'verified', coalesce(v.verified, false),
           'evidence', CASE WHEN v.kind IS NOT NULL
                            THEN jsonb_build_object('kind', v.kind, 'value', v.value, 'key', k.jwk) END)
    FROM records AS r
    JOIN imported_answers AS a ON a.record = r.id
    LEFT JOIN import_evidence AS v ON v.transaction = t.id
    LEFT JOIN import_keys AS k ON k.kid = v.kid
   WHERE r.transaction = t.id LIMIT 1`;
