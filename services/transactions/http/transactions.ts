import type { Context } from 'koa';
import { isReader, type Principal } from '#lib/contracts/principal.ts';
import { isAnonymousSubject } from '#lib/contracts/public-forms.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { readPage } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { keepQuery } from '#lib/pages/kept-query.ts';
import { resultPage } from '../present/result-page.ts';
import { presentContext, presentTransaction } from '../present/transaction.ts';
import { cancelTransaction } from '../request/cancel.ts';
import { unknownFields, unknownSearchMembers } from '../request/context-warnings.ts';
import { createTransaction } from '../request/create.ts';
import { readContext } from '../request/read-context.ts';
import { submitSingleStep } from '../request/single-step.ts';
import { untoldOwners } from '../sent-parts/part-withdrawal.ts';
import { readParts } from '../sent-parts/store.ts';
import { noSuchTransaction, requireAccess } from '../transaction/access.ts';
import { mintLinks } from '../transaction/links.ts';
import { countTransactions, type ListedTransaction, listTransactions } from '../transaction/list-store.ts';
import { readHistory, readTransaction } from '../transaction/store.ts';
import { historyAt, isAwaitingCode, stateAt, type Transaction } from '../transaction/transaction.ts';
import { readResult, type TransactionResult } from '../withdrawal/results.ts';
import { readChoicesAt } from './choices-page.ts';
import type { Dependencies } from './dependencies.ts';
import { readTransactionFilter } from './filters.ts';
import {
  mintPageLinks,
  readerLanguages,
  readRelated,
  redirectFrame,
  redirectToTransaction,
  sendTransaction,
  sendTransactionPage,
} from './send.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;
const defaultSize = 50;
const maxSize = 200;

/** /consents, /transactions */
export function transactionHandlers(dependencies: Dependencies) {
  const { db, instance } = dependencies;
  return {
    async createTransaction(ctx, { body, principal }) {
      const context = readContext(body, principal, dependencies.messaging);
      const read = await createTransaction(dependencies, context, principal);
      const warnings = unknownFields(body);
      await sendTransaction(ctx, dependencies, read, { principal, warnings }, read.created ? 201 : 200);
    },

    async createSingleStepTransaction(ctx, { body, principal }) {
      const languages = readerLanguages(ctx, undefined, instance.language);
      const gpc = ctx.get('sec-gpc') === '1';
      const read = await submitSingleStep(dependencies, { body, principal, languages, gpc });
      const warnings = unknownFields(body.context).map((warning): Fault => {
        return { ...warning, pointer: `/context${warning.pointer}` };
      });
      await sendTransaction(ctx, dependencies, read, { principal, warnings }, read.created ? 201 : 200);
    },

    /** Browsers are redirected to the form or to the page for the code, or get the final page. */
    async getTransaction(ctx, { params, principal, mode }) {
      const id = params.txid;
      if (mode === 'json') {
        const read = requireAccess(principal, await readTransaction(db, id), 'representation');
        if (!read.transaction.erasedAt && !isReader(principal))
          return sendTransaction(ctx, dependencies, read, { principal });
        const related = await readRelated(db, [read.transaction]);
        ctx.body = presentTransaction(read, principal, dependencies.instance.baseUrl, related);
        return;
      }
      // With the links of its pages, a reader could act as the subject.
      if (isReader(principal))
        throw fail('not-acceptable', 'Your role reads transactions as application/json only.');
      const read = requireAccess(principal, await readResult(db, id), 'result');
      const isOpen = stateAt(read.transaction, read.now) === 'CREATED';
      if (!isOpen && !isAwaitingCode(read)) return sendFinalPage(ctx, dependencies, read, principal);
      const { submit, confirm } = mintLinks(dependencies, read, principal);
      redirectFrame(ctx, keepQuery(isOpen ? submit : confirm, ctx.query));
    },

    async getContext(ctx, { params }) {
      const read = await readTransaction(db, params.txid);
      if (!read) throw noSuchTransaction();
      ctx.body = presentContext(read.transaction.context);
    },

    async getHistory(ctx, { params }) {
      const read = await readTransaction(db, params.txid);
      if (!read) throw noSuchTransaction();
      const history = historyAt(await readHistory(db, read.transaction.id), read);
      ctx.body = {
        values: history.map(({ version, state, at }) => ({ version, state, at: at.toISOString() })),
      };
    },

    async cancelTransaction(ctx, { params, principal, form, mode }) {
      const read = await cancelTransaction(dependencies, { id: params.txid, principal });
      if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, read, { principal }, true);
      return sendTransaction(ctx, dependencies, read, { principal });
    },

    async listTransactions(ctx, { query, principal }) {
      const { page, next } = await readPage(
        query,
        (request) => listTransactions(db, readTransactionFilter(query), request),
        { idPattern, idOf: ({ transaction }) => transaction.id },
      );
      ctx.body = { values: await presentAll(dependencies, page, principal), next };
    },

    /** The same list by page numbers, which start at 0 (docs/interface.md, "Lists"). */
    async searchTransactions(ctx, { body, principal }) {
      const filter = readTransactionFilter(body ?? {});
      const page = Math.max(0, body?.page ?? 0);
      const pageSize = Math.min(maxSize, Math.max(1, body?.size ?? defaultSize));
      const [found, totalCount] = await Promise.all([
        listTransactions(db, filter, { limit: pageSize, offset: page * pageSize }),
        countTransactions(db, filter),
      ]);
      const values = await presentAll(dependencies, found, principal);
      const warnings = unknownSearchMembers(body ?? {});
      ctx.body = {
        values,
        page,
        pageSize,
        totalPages: Math.ceil(totalCount / pageSize),
        totalCount,
        ...(warnings.length > 0 && { warnings }),
      };
    },
  } satisfies OperationHandlers;
}

/** Transactions in a list have no links with tokens; `getTransaction` mints them. */
async function presentAll(
  { db, instance }: Dependencies,
  reads: readonly ListedTransaction[],
  principal: Principal,
) {
  const related = await readRelated(
    db,
    reads.map(({ transaction }) => transaction),
  );
  return reads.map(({ kinds, ...read }) => ({
    ...presentTransaction(read, principal, instance.baseUrl, related),
    kinds,
  }));
}

/** Sends the final page in the language of the receipt; without a receipt, in the reader's language. */
async function sendFinalPage(
  ctx: Context,
  dependencies: Dependencies,
  read: TransactionResult,
  principal: Principal,
): Promise<void> {
  const { db, instance } = dependencies;
  const { transaction } = read;
  const related = await readRelated(db, [transaction]);
  const page = resultPage('result', read, {
    baseUrl: instance.baseUrl,
    links: mintPageLinks(ctx, dependencies, read, principal),
    related,
    // Whoever has the link is the person; strangers without a name are found nowhere.
    choicesAt:
      principal.transaction && !isAnonymousSubject(transaction.subject)
        ? await readChoicesAt(dependencies, related.parts.get(transaction.id) ?? [])
        : undefined,
    keptBy: transaction.kind === 'WITHDRAWAL' ? await ownersOf(dependencies, transaction) : undefined,
  });
  const languages = readerLanguages(ctx, transaction.context.language, instance.language);
  await sendTransactionPage(ctx, dependencies, read, {
    page,
    languages: page.receipt ? [page.receipt.language] : languages,
    themes: [transaction.layout.theme],
  });
}

/** Names of the peers that could still be told to withdraw their part of the parent transaction. */
async function ownersOf({ db }: Dependencies, { parent }: Transaction): Promise<string[]> {
  const read = parent === null ? undefined : await readTransaction(db, parent);
  const parts = read && (await readParts(db, [read.transaction])).get(read.transaction.id);
  return untoldOwners(parts ?? []).map(({ name }) => name);
}
