import type { Principal } from '#lib/contracts/principal.ts';
import type { ReleasedPart, TransactionsOperations } from '#lib/contracts/transactions.ts';
import { usualValidity } from '#lib/text/answer-validity.ts';
import type { Dependencies } from './http/dependencies.ts';
import { type AcceptDependencies, acceptPart, createRecentDatabaseTime } from './received-parts/accept.ts';
import { applyDecision } from './received-parts/decide.ts';
import { erasePart } from './received-parts/erase.ts';
import { withdrawPart } from './received-parts/withdraw.ts';
import { createTransaction } from './request/create.ts';
import { readContext } from './request/read-context.ts';
import { type ReleasedRow, readPart, readReleased } from './sent-parts/store.ts';
import { mintLinks } from './transaction/links.ts';
import { isFinal } from './transaction/transaction.ts';

type OperationDependencies = Dependencies & Pick<AcceptDependencies, 'log' | 'sealingKeys' | 'metrics'>;

/** Limit for the sealed parts of one response, in bytes. One part alone may have this size. */
const maxBytes = 2 * 1024 * 1024;

/** The internal operations of this service (lib/contracts/transactions.ts). */
export function createOperations(dependencies: OperationDependencies): TransactionsOperations {
  const { db, instance } = dependencies;
  const accepting = { ...dependencies, recentTime: createRecentDatabaseTime() };
  return {
    async createTransaction({ context, author }) {
      const principal: Principal = {
        roles: ['operator'],
        reach: 'any',
        name: author,
        account: `user:${author}`,
      };
      const created = await createTransaction(
        dependencies,
        readContext(context, principal, dependencies.messaging),
        principal,
      );
      return { url: mintLinks(dependencies, created, principal).transaction };
    },

    async readSubmissions({ sids }) {
      const found = await readReleased(db, sids, maxBytes);
      return Object.fromEntries(found.map(({ sid, part }) => [sid, part && present(part, instance.baseUrl)]));
    },

    /**
     * `rollback` for an unknown part, for one of another peer, and for one that must be rolled back. If the
     * part was withdrawn after the commit, `commit` until the delivery of the order to withdraw it has ended:
     * the order ends the consents, and the other answers of the part stay. Past the deadline `open` until the
     * sweeper has stored the rollback: a COMMIT that began before the deadline may still be in progress.
     */
    async readDecision({ sid, peer }) {
      const part = await readPart(db, sid);
      if (part?.location !== peer || part.mustRollBack) return { decision: 'rollback' };
      const { transactionState: state } = part;
      if (!isFinal(state)) return { decision: 'open' };
      return { decision: state === 'COMMITTED' ? 'commit' : 'rollback' };
    },

    acceptSubmission: (received) => acceptPart(accepting, received),
    decideSubmission: (decided) => applyDecision(accepting, decided),
    withdrawSubmission: (withdrawn) => withdrawPart(accepting, withdrawn),
    eraseSubmission: (erased) => erasePart(accepting, erased),
  };
}

/**
 * Presents a part with the same members each time; peers writes canonical JSON (RFC 8785), and the owner
 * recognises the part by the digest of the request.
 */
function present(part: ReleasedRow, baseUrl: string): ReleasedPart {
  const { location, transaction, subject, object, language, validity, mode, sealed } = part;
  const leader = { location: baseUrl, id: transaction };
  const about = { subject, ...(object !== null && { object }) };
  const valid = validity === null ? { validity: usualValidity, validityIsDefault: true } : { validity };
  return { location, submission: { leader, ...about, language, ...valid, mode, sealed } };
}
