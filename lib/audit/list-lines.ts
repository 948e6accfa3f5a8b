import { type AuditAction, auditActions } from '#lib/audit/actions.ts';
import { type AuditLine, lineColumns, presentLine } from '#lib/audit/audit-line.ts';
import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { type PageRequest, readChoices, readLimit, readPage, readTime } from '#lib/http/lists.ts';
import type { Handler, Input } from '#lib/http/operation.ts';

/** The lists of all areas have the same parameters. */
export type AuditInput = Input<'listAuthAudit'>;

interface AuditFilter {
  actor: string | undefined;
  actions: AuditAction[] | undefined;
  target: string | undefined;
  /** SQL of further targets. */
  related: Statement | undefined;
  after: Date | undefined;
  before: Date | undefined;
}

/**
 * SQL of the targets that belong to a target, such as the transactions of a person, as rows of one text;
 * undefined for a target that has none.
 */
export type RelatedTargets = (target: string) => Statement | undefined;

/**
 * Creates the handler of `GET /audit/<area>`: lines of the schema's audit log, newest first; with `from`,
 * sealed lines in the order of the tree. @param related what a filter by target selects besides it.
 */
export function createAuditList(db: Queries, related: RelatedTargets = () => undefined): Handler<AuditInput> {
  return async (ctx, { query }) => {
    const filter = readFilter(query, related);
    if (query.from !== undefined) {
      const lines = await listSealed(db, filter, {
        from: readFrom(query.from),
        limit: readLimit(query.limit),
      });
      ctx.body = { values: lines.map(presentRow) };
      return;
    }
    const { page, next } = await readPage(query, (request) => listLines(db, filter, request), {
      idOf: ({ id }) => id,
    });
    ctx.body = { values: page.map(presentRow), next };
  };
}

/** Empty filters count as absent. @throws Failure `invalid` that names each faulty one. */
function readFilter(
  { actor, action, target, after, before }: AuditInput['query'],
  related: RelatedTargets,
): AuditFilter {
  const faults: Fault[] = [];
  const filter = {
    actor: actor || undefined,
    actions: readChoices(action, 'action', auditActions, faults),
    target: target || undefined,
    related: target ? related(target) : undefined,
    after: readTime(after, 'after', faults),
    before: readTime(before, 'before', faults),
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

/** @throws Failure `invalid` unless it is a position in the tree. */
function readFrom(from: string): number {
  const position = Number(from);
  if (/^\d{1,15}$/.test(from)) return position;
  const errors = [{ pointer: '/from', code: 'invalid', detail: 'must be a number from 0' }];
  throw fail('invalid', 'The filter is not valid.', { errors });
}

/** A row as it is listed: a line with its place in the tree, or what a blanked line has left. */
type Row = (AuditLine | Blanked) & { seq: string | null; leaf: string | null };
type Blanked = Pick<AuditLine, 'id' | 'at'> & { action: null };

const columns = sql`${lineColumns}, l.seq, encode(l.leaf, 'hex') AS leaf`;

async function listLines(
  db: Queries,
  filter: AuditFilter,
  { after: end, limit }: PageRequest,
): Promise<(Row & { position: string })[]> {
  const conditions = [
    ...conditionsOf(filter),
    // Receipts are as many as submissions, and would hide everything else.
    (filter.actions?.includes('receipt.signed') ?? filter.target !== undefined)
      ? sql`l.action IS NOT NULL`
      : sql`l.action <> 'receipt.signed'`,
    ...(end ? [sql`(l.at, l.id) < (${end.createdAt}::timestamptz, ${end.id}::uuid)`] : []),
  ];
  return db.query(sql`
    SELECT ${columns}, l.at::text AS position
      FROM audit_log AS l WHERE ${join(conditions, ' AND ')}
     ORDER BY l.at DESC, l.id DESC LIMIT ${limit}`);
}

/** Sealed lines, blanked ones among them, from a position on. */
function listSealed(
  db: Queries,
  filter: AuditFilter,
  { from, limit }: { from: number; limit: number },
): Promise<Row[]> {
  const conditions = [sql`l.seq >= ${from}::bigint`, ...conditionsOf(filter)];
  return db.query(sql`
    SELECT ${columns} FROM audit_log AS l WHERE ${join(conditions, ' AND ')} ORDER BY l.seq LIMIT ${limit}`);
}

function conditionsOf({ actor, actions, target, related, after, before }: AuditFilter): Statement[] {
  return [
    ...(actor === undefined ? [] : [sql`l.actor = ${actor}`]),
    ...(actions ? [sql`l.action = ANY(${actions})`] : []),
    ...(target === undefined
      ? []
      : [
          related ? sql`l.target = ANY(${[target]}::text[] || ARRAY(${related}))` : sql`l.target = ${target}`,
        ]),
    ...(after ? [sql`l.at >= ${after}`] : []),
    ...(before ? [sql`l.at < ${before}`] : []),
  ];
}

function presentRow({ seq, leaf, ...row }: Row) {
  const place = seq === null ? {} : { seq: Number(seq) };
  if (row.action === null) return { id: row.id, at: row.at.toISOString(), ...place, leaf };
  return { ...presentLine(row as AuditLine), ...place };
}
