import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { ErasurePeer } from '../domain/erasure.ts';

/** A member of {@link ExportRows}: the rows of each transaction. */
interface Exported {
  id: string;
  records: object[];
  receipt: ReceiptBody | null;
  messages: object[];
}

/** What an export has beside the transactions themselves. */
export interface ExportRows {
  transactions: ReadonlyMap<string, Exported>;
  audit: { at: Date; action: string; by: string }[];
  peers: ErasurePeer[];
}

/**
 * Reads the personal data of transactions of a subject (openapi.yaml, `ExportedTransaction`).
 * @param reference the id of the subject, by which audit lines name it.
 */
export async function readExport(
  db: Queries,
  reference: string,
  ids: readonly string[],
): Promise<ExportRows> {
  const rows = await db.query<Exported>(sql`
    SELECT i.id, (${recordsOf}) AS records, (${messagesOf}) AS messages,
           (SELECT r.body::jsonb FROM receipts AS r WHERE r.transaction = i.id) AS receipt
      FROM unnest(${ids}::text[]) AS i (id)`);
  const audit = await db.query<ExportRows['audit'][number]>(sql`
    SELECT l.at, l.action, l.actor_kind AS by FROM audit_log AS l
     WHERE l.target = ANY(${targets(reference, ids)}::text[]) ORDER BY l.at DESC, l.id DESC LIMIT ${maxLines}`);
  const peers = await db.query<ErasurePeer>(sql`
    SELECT DISTINCT f.name, f.location FROM followers AS f
     WHERE f.transaction = ANY(${ids}::text[]) ORDER BY f.name, f.location`);
  return { transactions: new Map(rows.map((row) => [row.id, row])), audit, peers };
}

const maxLines = 1_000;

function targets(reference: string, ids: readonly string[]): string[] {
  return [`subject/${reference}`, ...ids.map((id) => `transaction/${id}`)];
}

const recordsOf = sql`
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'record', r.id,
           'element', concat_ws('/', 'element', r.type, r.key, r.serial),
           'information', concat_ws('/', 'element', 'information', r.info_key, r.info_serial),
           'object', nullif(r.object, ''), 'answers', r.value, 'state', r.state, 'origin', r.origin,
           'comment', r.comment, 'created', r.created_at, 'committed', r.committed_at,
           'expires', r.expires_at)) ORDER BY r.key), '[]'::jsonb)
    FROM records AS r WHERE r.transaction = i.id`;

const messagesOf = sql`
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'kind', m.kind, 'channel', m.channel, 'destination', m.destination, 'state', m.state,
           'created', m.created_at, 'sent', m.sent_at)) ORDER BY m.created_at, m.id), '[]'::jsonb)
    FROM messages AS m WHERE m.transaction = i.id`;
