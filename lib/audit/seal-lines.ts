import { type AuditLine, lineColumns, presentLine } from '#lib/audit/audit-line.ts';
import { leafOf } from '#lib/audit/leaf.ts';
import { appendLeaf, type Frontier, rootOf } from '#lib/audit/merkle-tree.ts';
import { type HashedNode, storedLevel, storeNodes } from '#lib/audit/tree-nodes.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';

/** The state of a log's tree (RFC 9162, section 2.1). */
export interface TreeHead {
  size: number;
  /** Root hash, hexadecimal. */
  root: string;
}

/** Lines that were queued instead of written to the log. */
export interface LineQueue {
  /** SQL: whether any wait. */
  isAny: Statement;
  /** Takes lines in the transaction that seals them. @param limit how many at most. */
  take(tx: Queries, limit: number): Promise<AuditLine[]>;
}

const noQueue: LineQueue = { isAny: sql`false`, take: async () => [] };

/** Lines sealed by one database transaction, of the log and of the queue. */
const batch = 1_000;
const hashBytes = 32;

/**
 * Seals committed lines: numbers them without gaps and appends their leaves to the tree. Only lines that are
 * committed now are numbered, so a transaction that commits later than others gets later numbers.
 * @returns the head; undefined if there was nothing to seal, or another replica is sealing.
 */
export async function sealLines(
  db: Database,
  { queue = noQueue, isStopped = () => false }: { queue?: LineQueue; isStopped?: () => boolean } = {},
): Promise<TreeHead | undefined> {
  let head: TreeHead | undefined;
  if (!(await isAnyUnsealed(db, queue))) return head;
  for (;;) {
    const sealed = await db.withTransaction((tx) => sealBatch(tx, queue));
    if (!sealed) return head;
    head = sealed.head;
    if (sealed.lines < batch || isStopped()) return head;
  }
}

/** One statement instead of a transaction of four: most of the time there is nothing to seal. */
async function isAnyUnsealed(db: Queries, queue: LineQueue): Promise<boolean> {
  const { isAny } = await db.one<{ isAny: boolean }>(sql`
    SELECT (SELECT l.id FROM audit_log AS l WHERE l.seq IS NULL ORDER BY l.at, l.id LIMIT 1) IS NOT NULL
           OR ${queue.isAny} AS "isAny"`);
  return isAny;
}

async function sealBatch(
  tx: Queries,
  queue: LineQueue,
): Promise<{ lines: number; head: TreeHead } | undefined> {
  // The lock of the row lasts until the COMMIT: two sealers would give the same number twice.
  const [tree] = await tx.query<StoredTree>(sql`
    SELECT t.size, t.frontier FROM audit_tree AS t FOR UPDATE SKIP LOCKED`);
  if (!tree) return undefined;
  const lines = await tx.query<AuditLine>(sql`
    SELECT ${lineColumns} FROM audit_log AS l WHERE l.seq IS NULL ORDER BY l.at, l.id LIMIT ${batch}`);
  const queued = await queue.take(tx, batch);
  if (lines.length + queued.length === 0) return undefined;
  const frontier = readFrontier(tree);
  const nodes: HashedNode[] = [];
  await storeSealed(tx, append(frontier, lines, nodes));
  await insertSealed(tx, append(frontier, queued, nodes));
  await storeNodes(tx, nodes);
  await tx.query(sql`
    UPDATE audit_tree SET size = ${frontier.size}::bigint, frontier = ${Buffer.concat(frontier.hashes)}`);
  return { lines: Math.max(lines.length, queued.length), head: headOf(frontier) };
}

type Sealed = AuditLine & { seq: number; leaf: Buffer };

/** @param nodes gets the subtrees that are stored. */
function append(frontier: Frontier, lines: readonly AuditLine[], nodes: HashedNode[]): Sealed[] {
  return lines.map((line) => {
    const seq = frontier.size;
    const leaf = leafOf({ seq, ...presentLine(line) });
    appendLeaf(frontier, leaf, (node) => {
      if (node.level >= storedLevel) nodes.push(node);
    });
    return { ...line, seq, leaf };
  });
}

async function storeSealed(tx: Queries, lines: readonly Sealed[]): Promise<void> {
  if (lines.length === 0) return;
  await tx.query(sql`
    UPDATE audit_log AS l SET seq = n.seq, leaf = n.leaf
      FROM unnest(${lines.map(({ id }) => id)}::uuid[], ${lines.map(({ seq }) => seq)}::bigint[],
                  ${lines.map(({ leaf }) => leaf)}::bytea[]) AS n (id, seq, leaf)
     WHERE l.id = n.id`);
}

async function insertSealed(tx: Queries, lines: readonly Sealed[]): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map(({ leaf, ...line }) => ({ ...line, leaf: leaf.toString('hex') }));
  await tx.query(sql`
    INSERT INTO audit_log (id, at, actor, actor_kind, action, target, outcome, digest, request, seq, leaf)
    SELECT n.id, n.at, n.actor, n."actorKind", n.action, n.target, n.outcome, decode(n.digest, 'hex'), n.request,
           n.seq, decode(n.leaf, 'hex')
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS n (id uuid, at timestamptz, actor text, "actorKind" text, action text, target text, outcome text,
              digest text, request text, seq bigint, leaf text)`);
}

/** The current head of the schema's log. */
export async function readHead(db: Queries): Promise<TreeHead> {
  return headOf(readFrontier(await db.one<StoredTree>(sql`SELECT t.size, t.frontier FROM audit_tree AS t`)));
}

interface StoredTree {
  /** PostgreSQL's bigint. */
  size: string;
  frontier: Buffer;
}

function readFrontier({ size, frontier }: StoredTree): Frontier {
  const count = frontier.length / hashBytes;
  const hashes = Array.from({ length: count }, (_, index) =>
    frontier.subarray(index * hashBytes, (index + 1) * hashBytes),
  );
  return { size: Number(size), hashes };
}

function headOf(frontier: Frontier): TreeHead {
  return { size: frontier.size, root: rootOf(frontier).toString('hex') };
}

/**
 * Blanks the bodies of the oldest lines; their leaves stay, so the tree remains verifiable.
 * @returns their number, at most `limit`.
 */
export async function blankLines(
  db: Queries,
  { retention, limit }: { retention: string; limit: number },
): Promise<number> {
  const { blanked } = await db.one<{ blanked: number }>(sql`
    WITH tree AS (
      SELECT t.blanked FROM audit_tree AS t FOR UPDATE
    ), next AS (
      SELECT l.id, l.seq, l.at < accord_now() - ${retention}::interval AS due
        FROM tree AS t JOIN audit_log AS l ON l.seq >= t.blanked AND l.seq < t.blanked + ${limit}
    ), due AS (
      SELECT n.id FROM next AS n
       WHERE n.due AND n.seq < coalesce((SELECT min(k.seq) FROM next AS k WHERE NOT k.due), n.seq + 1)
    ), blank AS (
      UPDATE audit_log AS l
         SET actor = NULL, actor_kind = NULL, action = NULL, target = NULL, outcome = NULL, digest = NULL,
             request = NULL
        FROM due AS d WHERE l.id = d.id
      RETURNING l.id
    ), moved AS (
      UPDATE audit_tree SET blanked = blanked + (SELECT count(*) FROM blank)
    )
    SELECT count(*)::int AS blanked FROM blank`);
  return blanked;
}
