import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { presentTransaction } from '../present/transaction.ts';
import { mintLinks } from '../transaction/links.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { withdrawConsents, withdrawOfPerson } from '../withdrawal/withdraw.ts';
import { readText } from './filters.ts';
import type { Dependencies } from './handlers.ts';
import { readRelated, redirectToTransaction, sendTransaction } from './send.ts';

/** /consents/{txid}/withdraw, /choices/withdraw */
export function withdrawalHandlers(dependencies: Dependencies) {
  return {
    async withdrawConsents(ctx, { params, body, principal, form, mode }) {
      const read = await withdrawConsents(dependencies, { id: params.txid, principal, body });
      const caller = { principal: callerAt(principal, read.transaction) };
      if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, read, caller);
      return sendTransaction(ctx, dependencies, read, caller, read.created ? 201 : 200);
    },

    async withdrawChoices(ctx, { body, principal }) {
      const subject = subjectOf(principal, readText(body.subject));
      const object = readText(body.object);
      const reads = await withdrawOfPerson(dependencies, { subject, object, principal, body });
      ctx.status = reads.some(({ created }) => created) ? 201 : 200;
      const { baseUrl } = dependencies.instance;
      const related = await readRelated(
        dependencies.db,
        reads.map(({ transaction }) => transaction),
      );
      ctx.body = {
        transactions: reads.map((read) => {
          const links = mintLinks(dependencies, read, principal);
          return presentTransaction(read, principal, baseUrl, related, links);
        }),
      };
    },
  } satisfies OperationHandlers;
}

/** @throws Failure `forbidden` for a person who names somebody else; `invalid` if nobody is named. */
function subjectOf(principal: Principal, named: string | undefined): string {
  if (!isPrivileged(principal) && named !== undefined && named !== principal.subject)
    throw fail('forbidden', 'You may only withdraw your own consents.');
  const subject = named ?? principal.subject;
  if (subject === undefined || (isPrivileged(principal) && named === undefined))
    throw fail('invalid', 'The body is not valid.', {
      errors: [{ pointer: '/subject', code: 'required', detail: 'is required' }],
    });
  return subject;
}

/** For a caller with a token: the links to the withdrawal get tokens that allow as much (`use`). */
function callerAt(principal: Principal, { id, tokenEpoch }: Transaction): Principal {
  const token = principal.transaction;
  if (!token) return principal;
  return { ...principal, transaction: { id, use: token.use, epoch: tokenEpoch } };
}
