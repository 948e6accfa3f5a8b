import type { PrivateKey } from '#lib/config/private-key.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { SubmissionMetrics } from '#lib/observability/metrics/submission-metrics.ts';
import { acceptSubmission } from '../commands/accept-submission.ts';
import { createTransaction } from '../commands/create-transaction.ts';
import { decideSubmission } from '../commands/decide-submission.ts';
import { readContext } from '../commands/read-context.ts';
import { linksOf, withToken } from '../domain/links.ts';
import { createToldTime } from '../domain/told-time.ts';
import type { Dependencies } from '../handlers/dependencies.ts';
import { submitDependencies } from '../handlers/submit-dependencies.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { createReadDecision } from './read-decision.ts';
import { createReadSubmissions } from './read-submissions.ts';

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
