import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';

/** What services ask of each other, by who is asked (architecture.md, "Services": no cycle). */
export interface InternalOperations {
  auth: AuthOperations;
  forms: FormsOperations;
  transactions: TransactionsOperations;
}
