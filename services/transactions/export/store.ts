import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { readPeers } from '../erasure/erase-transactions.ts';
import type { Erasure, ErasurePeer } from '../erasure/erasure.ts';
import { listErasuresOf } from '../erasure/store.ts';
import type { Subject } from '../person/store.ts';
import { readUnsubscription } from '../person/unsubscriptions-store.ts';
import { type Hold, readHold } from '../standing/holds-store.ts';
import { toReadTransaction, transactionColumns } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';

type Exported = components['schemas']['ExportedTransaction'];

/** The rows of a transaction. */
export interface ExportRows {
  id: string;
  records: Exported['records'];
  receipt: Exported['receipt'] | null;
  messages: Exported['messages'];
}

/** What an export has beside the transactions themselves. */
export interface ExportFacts {
  audit: { at: Date; action: string; by: 'account' | 'key' | 'system' }[];
  peers: ErasurePeer[];
  hold: Hold | undefined;
  /** Since when the subject gets no messages of campaigns. */
  unsubscribed: Date | undefined;
  erasures: Erasure[];
}

/** Ids of the transactions of a subject, newest first. */
export async function listTransactionIds(db: Queries, subject: string, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    SELECT t.id FROM transactions AS t WHERE t.subject = ${subject}
     ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** The transactions that still belong to a subject, of these ids, newest first. */
export async function readTransactions(
  db: Queries,
  subject: string,
  ids: readonly string[],
): Promise<ReadTransaction[]> {
  const rows = await db.query<Parameters<typeof toReadTransaction>[0]>(sql`
    SELECT ${transactionColumns}, accord_now() AS now
      FROM transactions AS t WHERE t.id = ANY(${ids}::text[]) AND t.subject = ${subject}
     ORDER BY t.created_at DESC, t.id DESC`);
  return rows.map(toReadTransaction);
}

/** Reads the personal data of transactions (openapi.yaml, `ExportedTransaction`). @returns them by id. */
export async function readExport(
  db: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExportRows>> {
  const rows = await db.query<ExportRows>(sql`
    SELECT i.id, (${recordsOf}) AS records, (${messagesOf}) AS messages,
           (SELECT r.body::jsonb FROM receipts AS r WHERE r.transaction = i.id) AS receipt
      FROM unnest(${ids}::text[]) AS i (id)`);
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Reads the lines of the audit log about a subject and transactions, the peers of these transactions, and the
 * hold, the erasures and the unsubscription of the subject.
 */
export async function readExportFacts(
  db: Queries,
  { id, name }: Pick<Subject, 'id' | 'name'>,
  ids: readonly string[],
): Promise<ExportFacts> {
  const audit = await db.query<ExportFacts['audit'][number]>(sql`
    SELECT l.at, l.action, l.actor_kind AS by FROM audit_log AS l
     WHERE l.target = ANY(${targets(id, ids)}::text[]) ORDER BY l.at DESC, l.id DESC LIMIT ${maxLines}`);
  return {
    audit,
    peers: await readPeers(db, ids),
    hold: await readHold(db, name),
    unsubscribed: await readUnsubscription(db, id),
    erasures: await listErasuresOf(db, id, maxErasures),
  };
}

const maxLines = 1_000;
const maxErasures = 100;

function targets(reference: string, ids: readonly string[]): string[] {
  return [`subject/${reference}`, ...ids.map((id) => `transaction/${id}`)];
}

/** SQL: from where the answer `r` was taken over, with its evidence and texts, without the employee. */
const importedOf = sql`
  SELECT jsonb_build_object('at', t.created_at, 'source', a.source, 'sourceId', a.source_id,
           'evidence', e.kind, 'value', e.value, 'verified', coalesce(e.verified, false),
           'lang', x.item->'lang', 'texts', x.item->'texts')
    FROM imported_answers AS a JOIN transactions AS t ON t.id = r.transaction
    LEFT JOIN import_evidence AS e ON e.transaction = t.id
    LEFT JOIN imported_texts AS x ON x.identifier = concat_ws('/', 'element', r.type, r.key, r.serial)
   WHERE a.record = r.id`;

const recordsOf = sql`
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'record', r.id,
           'element', concat_ws('/', 'element', r.type, r.key, r.serial),
           'information', concat_ws('/', 'element', 'information', r.info_key, r.info_serial),
           'object', nullif(r.object, ''), 'answers', r.value, 'state', r.state, 'origin', r.origin,
           'comment', r.comment, 'created', r.created_at, 'committed', r.committed_at,
           'expires', r.expires_at,
           'imported', CASE WHEN r.origin = 'IMPORTED' THEN (${importedOf}) END)) ORDER BY r.key), '[]'::jsonb)
    FROM records AS r WHERE r.transaction = i.id`;

const messagesOf = sql`
  SELECT coalesce(jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
           'kind', m.kind, 'channel', m.channel, 'destination', m.destination, 'state', m.state,
           'created', m.created_at, 'sent', m.sent_at)) ORDER BY m.created_at, m.id), '[]'::jsonb)
    FROM messages AS m WHERE m.transaction = i.id`;
