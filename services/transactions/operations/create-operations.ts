import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { ReleasedSubmission, TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { acceptSubmission } from '../commands/accept-part.ts';
import { createTransaction, readContext } from '../commands/create-transaction.ts';
import { decideSubmission } from '../commands/decide-part.ts';
import { createToldTime } from '../domain/told-time.ts';
import { isFinal, stateAt } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import type { Dependencies } from '../handlers/handlers.ts';
import { submitDependencies } from '../handlers/submit-dependencies.ts';
import { mintToken } from '../presenters/transaction.ts';
import { type ReleasedPart, readReleased, readTransactionOf } from '../queries/parts.ts';

/** What operations work with, beside what handlers do. */
interface OperationDependencies extends Dependencies {
  log: Logger;
  /** Private keys that peers seal answers to. */
  sealingKeys: readonly PrivateKey[];
  metrics?: SubmissionMetrics;
}

/** The internal operations of this service (lib/contracts/transactions.ts): what other services ask it. */
export function createOperations(dependencies: OperationDependencies): TransactionsOperations {
  const { db, forms, tokens, instance, wake } = dependencies;
  const { log, sealingKeys, metrics } = dependencies;
  const accepting = {
    ...submitDependencies(dependencies),
    ...{ db, forms, log, sealingKeys, metrics, time: createToldTime() },
  };
  return {
    async createTransaction({ context, author }) {
      const principal: Principal = { roles: ['operator'], name: author, account: `user:${author}` };
      const made = await createTransaction(
        { db, forms, source: instance.baseUrl, wake },
        readContext(context, principal),
        principal,
      );
      return {
        url: withToken(
          linksOf(instance.baseUrl, made.transaction.id).transaction,
          mintToken(tokens, made, principal),
        ),
      };
    },
    readSubmissions: createReadSubmissions({ db, baseUrl: instance.baseUrl }),
    readDecision: createReadDecision({ db }),
    acceptSubmission: (received) => acceptSubmission(accepting, received),
    decideSubmission: (decided) => decideSubmission(accepting, decided),
  };
}

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

/** The internal operation `readDecision`. Nobody else's part was ever released to this peer: it holds nothing of it. */
export function createReadDecision({ db }: { db: Queries }): TransactionsOperations['readDecision'] {
  return async ({ sid, peer }) => {
    const found = await readTransactionOf(db, sid);
    if (!found || found.location !== peer) return { decision: 'rollback' };
    const state = stateAt(found, found.now);
    if (!isFinal(state)) return { decision: 'open' };
    return { decision: state === 'COMMITTED' ? 'commit' : 'rollback' };
  };
}
