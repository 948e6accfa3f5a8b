import type { Context } from 'koa';
import type { ConfirmPage } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode } from '#lib/http/send.ts';
import { type CodeType, codeStatus, readCode } from '../answer/code.ts';
import { readTransactionWithCode } from '../answer/codes-store.ts';
import {
  type AwaitedCode,
  confirmCode,
  readAwaitedCode,
  resendCode,
  withCode,
} from '../answer/confirm-code.ts';
import { pageOf } from '../present/transaction.ts';
import { requireAccess } from '../transaction/access.ts';
import { codeDestination } from '../transaction/destination.ts';
import { mintLinks } from '../transaction/links.ts';
import { isAwaitingCode } from '../transaction/transaction.ts';
import type { Dependencies } from './dependencies.ts';
import {
  mintPageLinks,
  readerLanguages,
  redirectToTransaction,
  sendTransaction,
  sendTransactionPage,
} from './send.ts';

type Asked = Pick<Input<'confirmAnswers'>, 'params' | 'principal' | 'form' | 'mode'>;
/** The effect of the last request, as the page reports it. */
type LastRequest = Pick<ConfirmPage, 'fault' | 'isResent'>;

/** /consents/{txid}/confirm */
export function confirmationHandlers(dependencies: Dependencies) {
  const { db } = dependencies;
  return {
    async getConfirmation(ctx, input) {
      const id = input.params.txid;
      const { principal, mode } = input;
      if (mode === 'json') {
        const awaited = await readAwaitedCode(dependencies, { id, principal }, 'wrong-state');
        return sendStatus(ctx, dependencies, awaited, input);
      }
      // If no code is awaited, a browser is redirected to the transaction: to the form, or to the result,
      // which a token opens for longer than this page.
      const read = requireAccess(principal, await readTransactionWithCode(db, id), 'result');
      if (!isAwaitingCode(read)) return redirectToTransaction(ctx, dependencies, read, { principal });
      const awaited = withCode(requireAccess(principal, read));
      return sendConfirmPage(ctx, dependencies, awaited, input, { fault: null, isResent: false });
    },

    /** JSON or a form post with the member `code`, or `ConfirmCodeValue`, which existing clients send. */
    async confirmAnswers(ctx, input) {
      const id = input.params.txid;
      const { principal, form } = input;
      try {
        const code = readCode(input.body.code ?? input.body.ConfirmCodeValue);
        if (code === undefined) {
          // A transaction that is unknown or awaits no code is reported before a malformed code.
          await readAwaitedCode(dependencies, { id, principal }, 'expired');
          throw fail('invalid', 'The code is not valid.', {
            errors: [{ pointer: '/code', code: 'malformed', detail: 'must be six digits' }],
          });
        }
        const read = await confirmCode(dependencies, { id, principal, code });
        if (form) return redirectToTransaction(ctx, dependencies, read, { principal }, true);
        return await sendTransaction(ctx, dependencies, read, { principal });
      } catch (error) {
        await sendFault(ctx, dependencies, input, error);
      }
    },

    async resendCode(ctx, input) {
      const id = input.params.txid;
      try {
        const awaited = await resendCode(dependencies, { id, principal: input.principal });
        if (isPage(ctx, input))
          return await sendConfirmPage(ctx, dependencies, awaited, input, { fault: null, isResent: true });
        ctx.status = 202;
        await sendStatus(ctx, dependencies, awaited, input);
      } catch (error) {
        await sendFault(ctx, dependencies, input, error);
      }
    },
  } satisfies OperationHandlers;
}

function isPage(ctx: Context, { form, mode }: Asked): boolean {
  return (form || mode === 'html') && preferredMode(ctx.get('accept')) === 'html';
}

/** Shows a browser the page for the code again, with the fault. @throws the error in all other cases. */
async function sendFault(ctx: Context, dependencies: Dependencies, input: Asked, error: unknown) {
  if (!(error instanceof Failure) || !isPage(ctx, input)) throw error;
  const fault = faultOf(error);
  if (!fault) throw error;
  ctx.set(error.headers);
  const id = input.params.txid;
  const awaited = await readAwaitedCode(dependencies, { id, principal: input.principal }, 'expired');
  const status = fault === 'early' || fault === 'limit' ? 429 : 422;
  // The wrong code may be one that was sent before: the problem document calls it not the newest.
  const told = fault === 'wrong' && awaited.code.number > 1 ? 'superseded' : fault;
  await sendConfirmPage(ctx, dependencies, awaited, input, { fault: told, isResent: false }, status);
}

const faults: readonly unknown[] = ['malformed', 'wrong', 'expired', 'exhausted', 'early', 'limit'];

function faultOf({ errors = [] }: Failure): ConfirmPage['fault'] | undefined {
  return errors.map(({ code }) => code).find((code) => faults.includes(code)) as
    | ConfirmPage['fault']
    | undefined;
}

/** Sends the state of the code as JSON. */
async function sendStatus(
  ctx: Context,
  dependencies: Dependencies,
  awaited: AwaitedCode,
  { principal }: Asked,
): Promise<void> {
  const { token } = mintLinks(dependencies, awaited.read, principal);
  ctx.body = { token, ...presentCode(dependencies, awaited) };
}

/** The representation of a code (openapi.yaml, `CodeStatus`); with FORM_CODE it contains the code itself. */
function presentCode({ messaging, resendAfter: seconds }: Dependencies, { read, code }: AwaitedCode) {
  const { id, context } = read.transaction;
  const { triesLeft, codesLeft, expires, resendAfter } = codeStatus(code, seconds);
  return {
    type: context.confirmation as CodeType,
    destination: codeDestination(context)?.masked,
    code: code.sealed === null ? undefined : messaging.box.open(id, code.sealed),
    expires: expires.toISOString(),
    triesLeft,
    codesLeft,
    resendAfter: resendAfter.toISOString(),
  };
}

async function sendConfirmPage(
  ctx: Context,
  dependencies: Dependencies,
  awaited: AwaitedCode,
  { principal }: Asked,
  last: LastRequest,
  status = 200,
): Promise<void> {
  const { instance } = dependencies;
  const { read } = awaited;
  const { context, layout } = read.transaction;
  const links = mintPageLinks(ctx, dependencies, read, principal);
  const page: ConfirmPage = {
    page: 'confirm',
    ...pageOf(read, instance.baseUrl, { links }),
    code: presentCode(dependencies, awaited),
    information: (JSON.parse(read.draft) as ReceiptBody).information,
    now: read.now.toISOString(),
    ...last,
    actions: { resend: links.resend, cancel: links.cancel },
  };
  const languages = readerLanguages(ctx, context.language, instance.language);
  await sendTransactionPage(ctx, dependencies, read, { page, languages, themes: [layout.theme] }, status);
}
