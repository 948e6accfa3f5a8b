import type { Principal } from '#lib/contracts/principal.ts';
import type { Handlers } from '#lib/http/operation.ts';
import { withdrawConsents } from '../commands/withdraw-consents.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { Dependencies } from './handlers.ts';
import { redirectToTransaction, sendTransaction } from './send.ts';

/** /consents/{txid}/withdraw */
export function withdrawalHandlers(dependencies: Dependencies): Handlers {
  return {
    async withdrawConsents(ctx, { params, body, principal, form, mode }) {
      const read = await withdrawConsents(dependencies, { id: params.txid ?? '', principal, body });
      const caller = { principal: callerAt(principal, read.transaction) };
      if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, read, caller);
      return sendTransaction(ctx, dependencies, read, caller, read.created ? 201 : 200);
    },
  };
}

/** A caller with a token gets links to the withdrawal with the same use. */
function callerAt(principal: Principal, { id, tokenEpoch }: Transaction): Principal {
  const token = principal.transaction;
  if (!token) return principal;
  return { ...principal, transaction: { id, use: token.use, epoch: tokenEpoch } };
}
