import { type AuditAction, auditActions } from '#lib/audit/actions.ts';
import type { Queries } from '#lib/db/database.ts';
import { join, sql } from '#lib/db/sql.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { type PageRequest, readChoices, readPage, readTime } from '#lib/http/lists.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';

interface AuditLine {
  id: string;
  at: Date;
  actor: string;
  actorKind: 'account' | 'key' | 'system';
  action: AuditAction;
  target: string;
  /** Null for work outside of a request. */
  request: string | null;
}

interface AuditFilter {
  actor: string | undefined;
  actions: AuditAction[] | undefined;
  target: string | undefined;
  after: Date | undefined;
  before: Date | undefined;
}

/** Creates the handler of `GET /audit/<area>`: lines of the schema's audit log, newest first. */
export function createAuditList(db: Queries): Handler {
  return async (ctx, { query }) => {
    const filter = readFilter(query);
    const { page, next } = await readPage(query, (request) => listLines(db, filter, request), {
      idOf: ({ id }) => id,
    });
    ctx.body = { values: page.map(presentLine), next };
  };
}

/** @throws Failure `invalid` that names each faulty filter. */
function readFilter({ actor, action, target, after, before }: OperationInput['query']): AuditFilter {
  const faults: Fault[] = [];
  const filter = {
    actor: readId(actor),
    actions: readChoices(action, 'action', auditActions, faults),
    target: readId(target),
    after: readTime(after, 'after', faults),
    before: readTime(before, 'before', faults),
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

/** An empty filter counts as absent. */
function readId(value: string | string[] | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : String(value);
}

function listLines(
  db: Queries,
  { actor, actions, target, after, before }: AuditFilter,
  { after: end, limit }: PageRequest,
): Promise<(AuditLine & { position: string })[]> {
  const conditions = [
    ...(actor === undefined ? [] : [sql`l.actor = ${actor}`]),
    ...(actions ? [sql`l.action = ANY(${actions})`] : []),
    ...(target === undefined ? [] : [sql`l.target = ${target}`]),
    ...(after ? [sql`l.at >= ${after}`] : []),
    ...(before ? [sql`l.at < ${before}`] : []),
    ...(end ? [sql`(l.at, l.id) < (${end.createdAt}::timestamptz, ${end.id}::uuid)`] : []),
  ];
  return db.query(sql`
    SELECT l.id, l.at, l.actor, l.actor_kind AS "actorKind", l.action, l.target, l.request,
           l.at::text AS position
      FROM audit_log AS l WHERE ${join([sql`true`, ...conditions], ' AND ')}
     ORDER BY l.at DESC, l.id DESC LIMIT ${limit}`);
}

function presentLine({ id, at, actor, actorKind, action, target, request }: AuditLine) {
  return { id, at: at.toISOString(), actor, actorKind, action, target, request: request ?? undefined };
}
