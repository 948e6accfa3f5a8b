import type { ReleasedSubmission, TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type ReleasedPart, readReleased } from '../queries/followers.ts';

/** Of what is sealed, in one answer: a part may be as long as that alone. */
const mostBytes = 2 * 1024 * 1024;

/** The internal operation `readSubmissions`: always the same bytes for a part, as long as there is something to send. */
export function createReadSubmissions({
  db,
  baseUrl,
}: {
  db: Queries;
  baseUrl: string;
}): TransactionsOperations['readSubmissions'] {
  return async ({ sids }) => {
    const found = await readReleased(db, sids, mostBytes);
    return Object.fromEntries(found.map(({ sid, part }) => [sid, part && present(part, baseUrl)]));
  };
}

function present(part: ReleasedPart, baseUrl: string): ReleasedSubmission {
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
}
