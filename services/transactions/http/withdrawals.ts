import type { Context } from 'koa';
import { areObjections, isObjection } from '#lib/contracts/element-rules.ts';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { Queries } from '#lib/db/database.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { FormFields, OperationHandlers } from '#lib/http/operation.ts';
import { readBrought } from '../choices/brought.ts';
import { maxChoices } from '../choices/read-choices.ts';
import { presentTransaction } from '../present/transaction.ts';
import { readReceiptBodies } from '../receipts/store.ts';
import { linksOf, mintLinks } from '../transaction/links.ts';
import { readNow } from '../transaction/store.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { normaliseText } from '../transaction/values.ts';
import { withdrawConsents, withdrawOfPerson } from '../withdrawal/withdraw.ts';
import { redirectToChoices } from './choices.ts';
import type { Dependencies } from './dependencies.ts';
import { firstOf, readText } from './filters.ts';
import { readRelated, redirectToTransaction, sendTransaction } from './send.ts';

/** /consents/{txid}/withdraw, /choices/withdraw */
export function withdrawalHandlers(dependencies: Dependencies) {
  return {
    async withdrawConsents(ctx, { params, body, principal, form, mode }) {
      const read = await withdrawConsents(dependencies, { id: params.txid, principal, body });
      const caller = { principal: callerAt(principal, read.transaction) };
      if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, read, caller);
      await sendTransaction(ctx, dependencies, read, caller, read.created ? 201 : 200);
      const objected = await readObjected(dependencies.db, [read.transaction]);
      ctx.body = { ...(ctx.body as object), ...objected(read.transaction) };
    },

    async withdrawChoices(ctx, { principal, ...sent }) {
      if (sent.form) return withdrawOnPage(ctx, sent.body, principal);
      const { body } = sent;
      const subject = subjectOf(principal, readText(body.subject));
      const object = objectOf(body.object);
      const within = await readBrought(dependencies.db, subject, principal.choices);
      const given = { subject, object, principal, body, within };
      const reads = await withdrawOfPerson(dependencies, given);
      ctx.status = reads.some(({ created }) => created) ? 201 : 200;
      const { baseUrl } = dependencies.instance;
      const related = await readRelated(
        dependencies.db,
        reads.map(({ transaction }) => transaction),
      );
      const objected = await readObjected(
        dependencies.db,
        reads.map(({ transaction }) => transaction),
      );
      ctx.body = {
        transactions: reads.map((read) => {
          // A token would open more than a session that sees only what a peer brought.
          const links = within
            ? linksOf(baseUrl, read.transaction.id)
            : mintLinks(dependencies, read, principal);
          const presented = presentTransaction(read, principal, baseUrl, related, links);
          return { ...presented, ...objected(read.transaction) };
        }),
      };
    },
  } satisfies OperationHandlers;

  /** A button of the page of choices. A second click finds nothing left, and leads to the same page. */
  async function withdrawOnPage(ctx: Context, body: FormFields, principal: Principal): Promise<void> {
    const object = objectOf(body.object);
    const subject = subjectOf(principal, undefined);
    const within = await readBrought(dependencies.db, subject, principal.choices);
    // The button for all names each question that the page shows.
    const given = { subject, object, principal, body, within, maxNamed: maxChoices };
    const reads = await withdrawOfPerson(dependencies, given).catch(unlessNothingIsLeft);
    const ended = await readEnded(
      dependencies.db,
      reads.map(({ transaction }) => transaction),
    );
    redirectToChoices(ctx, dependencies, principal, {
      done: areObjections([...ended.values()].flat()) ? 'objected' : 'withdrawn',
      now: await readNow(dependencies.db),
    });
  }
}

/** The object that a body names, which is empty for none; undefined if it names no object, so any. */
function objectOf(given: string | readonly string[] | undefined): string | undefined {
  const object = firstOf(given);
  return object === undefined ? undefined : normaliseText(object);
}

function unlessNothingIsLeft(error: unknown): never[] {
  if (error instanceof Failure && error.code === 'nothing-to-withdraw') return [];
  throw error;
}

/** Reads to which elements the person objects by withdrawals: identifiers, by the transaction. */
async function readObjected(db: Queries, withdrawals: readonly Pick<Transaction, 'id'>[]) {
  const ended = await readEnded(db, withdrawals);
  return ({ id }: Pick<Transaction, 'id'>): { objected?: string[] } => {
    const consents = ended.get(id) ?? [];
    const objected = consents.flatMap(({ identifier, texts }) => (isObjection(texts) ? identifier : []));
    return objected.length > 0 ? { objected } : {};
  };
}

/** Reads from the receipts of withdrawals what they have ended, by the transaction. */
async function readEnded(db: Queries, withdrawals: readonly Pick<Transaction, 'id'>[]) {
  const bodies = await readReceiptBodies(
    db,
    withdrawals.map(({ id }) => id),
  );
  return new Map([...bodies].map(([id, body]) => [id, (JSON.parse(body) as ReceiptBody).consents]));
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
