import type { Context } from 'koa';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { FormFields, OperationHandlers } from '#lib/http/operation.ts';
import { presentTransaction } from '../present/transaction.ts';
import { mintLinks } from '../transaction/links.ts';
import { readNow } from '../transaction/store.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { withdrawConsents, withdrawOfPerson } from '../withdrawal/withdraw.ts';
import { redirectToChoices } from './choices.ts';
import { firstOf, readText } from './filters.ts';
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

    async withdrawChoices(ctx, { principal, ...sent }) {
      if (sent.form) return withdrawOnPage(ctx, sent.body, principal);
      const { body } = sent;
      const subject = subjectOf(principal, readText(body.subject));
      const object = readText(firstOf(body.object));
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

  /** A button of the page of choices. A second click finds nothing left, and leads to the same page. */
  async function withdrawOnPage(ctx: Context, body: FormFields, principal: Principal): Promise<void> {
    const object = readText(firstOf(body.object));
    const subject = subjectOf(principal, undefined);
    await withdrawOfPerson(dependencies, { subject, object, principal, body }).catch(unlessNothingIsLeft);
    redirectToChoices(ctx, dependencies, principal, {
      done: 'withdrawn',
      now: await readNow(dependencies.db),
    });
  }
}

function unlessNothingIsLeft(error: unknown): void {
  if (!(error instanceof Failure) || error.code !== 'nothing-to-withdraw') throw error;
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
