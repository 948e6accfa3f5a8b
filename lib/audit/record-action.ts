import { createHash } from 'node:crypto';
import type { AuditAction } from '#lib/audit/actions.ts';
import type { AuditLine } from '#lib/audit/audit-line.ts';
import type { LineQueue } from '#lib/audit/seal-lines.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { currentAccount, currentRequestId } from '#lib/observability/logger.ts';

/** Commands of operators, such as `npm run account`. */
export const commandLine = 'system:command-line';
/** Work outside of requests, and what this instance does because a peer asks for it. */
export const thisInstance = 'system:accord';

/** What was done. */
export interface AuditEntry {
  action: AuditAction;
  /** `<kind>/<id>`, of a person `subject/<id of the subject>`; never a name. */
  target: string;
  /** How it ended, if it can end in several ways. */
  outcome?: string;
}

/** The kinds of actors, by the prefix of their account. Subjects with a token and peers are not recorded. */
const actorKinds: Readonly<Record<string, string>> = { user: 'account', key: 'key', system: 'system' };
/** OpenID Connect limits `sub` to 255 characters. */
const maxActor = 255;

/**
 * Appends a line to the schema's audit log. Nothing is recorded of a subject who acts with a transaction
 * token, and of peers.
 * @param tx the transaction of the action, so that both are committed or neither.
 * @param account who acts; default: the caller of the current request.
 */
export async function recordAction(
  tx: Queries,
  { action, target, outcome }: AuditEntry,
  account = currentAccount() ?? thisInstance,
): Promise<void> {
  const [prefix = '', ...rest] = account.split(':');
  const kind = actorKinds[prefix];
  if (!kind) return;
  const actor = rest.join(':').slice(0, maxActor);
  // Lines of one transaction are listed in the order in which they were written.
  const at = sql`accord_now() + (clock_timestamp() - now())`;
  await tx.query(sql`
    INSERT INTO audit_log (id, at, actor, actor_kind, action, target, outcome, request)
    VALUES (${newUuid()}, ${at}, ${actor}, ${kind}, ${action}, ${target}, ${outcome ?? null}, ${currentRequestId()})`);
}

/**
 * SQL: queues the line `receipt.signed` of the transaction in `t` for the next sealing. The digest makes the
 * receipt provable, also after its text was deleted (docs/evidence.md, "Receipts").
 */
export function receiptSigned(jws: string): Statement {
  const digest = createHash('sha256').update(jws).digest();
  return sql`
      INSERT INTO signed_receipts (id, at, transaction, digest, request)
      SELECT ${newUuid()}::uuid, accord_now(), t.id, ${digest}::bytea, ${currentRequestId()} FROM t`;
}

/** Receipts whose lines wait to be sealed. */
export const signedReceipts: LineQueue = {
  isAny: sql`EXISTS (SELECT FROM signed_receipts)`,
  take(tx, limit) {
    const action: AuditAction = 'receipt.signed';
    return tx.query<AuditLine>(sql`
      DELETE FROM signed_receipts AS r
       WHERE r.ctid = ANY (ARRAY(SELECT q.ctid FROM signed_receipts AS q LIMIT ${limit}))
      RETURNING r.id, r.at, 'accord' AS actor, 'system' AS "actorKind", ${action}::text AS action,
                'transaction/' || r.transaction AS target, NULL AS outcome, encode(r.digest, 'hex') AS digest,
                r.request`);
  },
};
