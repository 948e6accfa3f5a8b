import type { AuditAction } from '#lib/audit/actions.ts';
import type { SealedLine } from '#lib/audit/leaf.ts';
import { type Statement, sql } from '#lib/db/sql.ts';

/** A row of the audit log whose body was not blanked. */
export interface AuditLine {
  id: string;
  at: Date;
  actor: string;
  actorKind: 'account' | 'key' | 'system';
  action: AuditAction;
  target: string;
  /** Null unless the action can end in several ways. */
  outcome: string | null;
  /** Of the document that the action made, in hexadecimal; else null. */
  digest: string | null;
  /** Null for work outside of a request. */
  request: string | null;
}

/** Columns of {@link AuditLine} of a row `l`. */
export const lineColumns: Statement = sql`l.id, l.at, l.actor, l.actor_kind AS "actorKind", l.action, l.target,
  l.outcome, encode(l.digest, 'hex') AS digest, l.request`;

/** A line as the API shows it, and as its leaf covers it. */
export function presentLine({ id, at, actor, actorKind, action, target, ...rest }: AuditLine) {
  return {
    id,
    at: at.toISOString(),
    actor,
    actorKind,
    action,
    target,
    outcome: rest.outcome ?? undefined,
    digest: rest.digest ?? undefined,
    request: rest.request ?? undefined,
  } satisfies Omit<SealedLine, 'seq'>;
}
