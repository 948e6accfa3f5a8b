import type { AuditAction } from '#lib/audit/actions.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { currentRequestId } from '#lib/observability/logger.ts';

/** Who acts, of whom only the id is recorded. */
export type Actor = Pick<Principal, 'account'>;

/** Commands of operators, such as `npm run account`. */
export const commandLine: Actor = { account: 'system:command-line' };

/** What was done. */
export interface AuditEntry {
  action: AuditAction;
  /** `<kind>/<id>`, of a person `subject/<id of the subject>`; never a name. */
  target: string;
}

/** The kinds of actors, by the prefix of their account. Subjects with a token and peers are not recorded. */
const actorKinds: Readonly<Record<string, string>> = { user: 'account', key: 'key', system: 'system' };
/** OpenID Connect limits `sub` to 255 characters. */
const maxActor = 255;

/**
 * Appends a line to the schema's audit log. Nothing is recorded of a subject who acts with a transaction
 * token, and of peers.
 * @param tx the transaction of the action, so that both are committed or neither.
 */
export async function recordAction(tx: Queries, actor: Actor, { action, target }: AuditEntry): Promise<void> {
  const [prefix = '', ...id] = actor.account.split(':');
  const kind = actorKinds[prefix];
  if (!kind) return;
  // Lines of one transaction are listed in the order in which they were written.
  await tx.query(sql`
    INSERT INTO audit_log (id, at, actor, actor_kind, action, target, request)
    VALUES (${newUuid()}, accord_now() + (clock_timestamp() - now()), ${id.join(':').slice(0, maxActor)}, ${kind}, ${action}, ${target},
            ${currentRequestId()})`);
}
