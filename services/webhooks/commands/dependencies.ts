import type { Database } from '#lib/db/database.ts';
import type { SecretBox } from '../domain/secret.ts';

/** What the commands of this service work with; built in compose.ts. */
export interface Parts {
  db: Database;
  baseUrl: string;
  secrets: SecretBox;
  /** Why an address is not called; undefined if it may be, or nobody knows at the moment. */
  refuseTarget(url: string): Promise<string | undefined>;
  /** Tells the job that something is due. */
  wake(): void;
}
