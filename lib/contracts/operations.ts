import type { AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';

/** Internal operations by the service that performs them. They have no cycles (docs/architecture.md). */
export interface InternalOperations {
  auth: AuthOperations & AuditOperations;
  forms: FormsOperations & AuditOperations;
  transactions: TransactionsOperations & AuditOperations;
  webhooks: AuditOperations;
}
