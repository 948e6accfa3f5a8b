import type { AuditAction } from '#lib/audit/actions.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import { isStaff, type Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';

/**
 * Records that a person with an account acted for a subject (docs/audit.md). Requests with an API key are not
 * recorded: nearly all transactions come from them, which would be too many lines for the audit log.
 * @param id of the transaction.
 */
export async function recordByStaff(
  tx: Queries,
  principal: Principal,
  action: AuditAction,
  id: string,
): Promise<void> {
  if (isStaff(principal)) await recordAction(tx, { action, target: `transaction/${id}` });
}
