import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Queries } from '#lib/db/database.ts';
import { readReleased } from '../queries/followers.ts';

/** The internal operation `readSubmission`: always the same bytes for a part, as long as there is something to send. */
export function createReadSubmission({
  db,
  baseUrl,
}: {
  db: Queries;
  baseUrl: string;
}): TransactionsOperations['readSubmission'] {
  return async ({ sid }) => {
    const part = await readReleased(db, sid);
    if (!part) return null;
    const { location, deadline, transaction, subject, object, language, validity, mode, sealed } = part;
    return {
      location,
      deadline: deadline.toISOString(),
      submission: {
        leader: { location: baseUrl, id: transaction },
        subject,
        ...(object !== null && { object }),
        ...{ language, validity, mode, sealed },
      },
    };
  };
}
