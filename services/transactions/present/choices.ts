import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Choice } from '../choices/choice.ts';
import type { SentAnswers } from '../choices/sent-answers.ts';
import { linksOf, type TransactionTokens } from '../transaction/links.ts';
import { titleOf } from './result-page.ts';

type Presented = components['schemas']['Choice'];

const dayMs = 24 * 60 * 60 * 1000;

/** The page of a peer, with the part that is looked for in the fragment, which browsers do not send. */
export function pageWithPart(page: string, { sid }: { sid: string }): string {
  return `${page}#from=${sid}`;
}

/**
 * The representation of the answers that went to a peer (openapi.yaml, `ChoicesAt`).
 * @param page of the peer; undefined: none is known.
 */
export function presentSent(
  { name, location, sid, forms, last, state, isWithdrawable, notice, isErasable, erasure }: SentAnswers,
  page: string | undefined,
) {
  return {
    name,
    location,
    sent: {
      forms,
      last: last.toISOString(),
      state,
      withdrawable: isWithdrawable,
      erasable: isErasable,
      ...(page && { page: pageWithPart(page, { sid }) }),
      ...(notice && { withdrawal: { state: notice.state, since: notice.since.toISOString() } }),
      ...(erasure && {
        erasure: {
          state: erasure.state,
          ...(erasure.outcome && { outcome: erasure.outcome as 'done' | 'kept' }),
          since: erasure.since.toISOString(),
        },
      }),
    },
  };
}

interface Shown {
  baseUrl: string;
  /** Undefined for those who only read: links have no token. */
  tokens: Pick<TransactionTokens, 'mint'> | undefined;
  now: Date;
  /** Whether the session sees everything: else there is no link to receipts, which would open more. */
  isWhole: boolean;
}

/** The representation of an answer (openapi.yaml, `Choice`); members without a value are left out. */
export function presentChoice(choice: Choice, shown: Shown): Presented {
  const { consent, identifier, key, object, status, reason, expiresAt, history } = choice;
  const texts = consent?.texts ?? {};
  return {
    identifier,
    object: object || undefined,
    title: titleOf(texts) || key,
    language: consent?.lang,
    usage: textOf(texts.usage),
    data: textOf(texts.data),
    recipients: choice.recipients.map(({ name, state, since }) => ({
      name,
      state,
      since: since?.toISOString(),
    })),
    answers: choice.value,
    status,
    reason,
    given: choice.givenAt.toISOString(),
    expires: expiresAt?.toISOString(),
    withdrawable: choice.isWithdrawable,
    changeable: shown.isWhole && choice.isChangeable,
    receipt: receiptLink(choice, shown),
    imported: choice.importedFrom ?? undefined,
    history: history.map(({ value, givenAt, withdraws }) => ({
      answers: value,
      given: new Date(givenAt).toISOString(),
      ...(withdraws && { withdraws: true }),
    })),
  };
}

function textOf(text: unknown): string | undefined {
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** A link for a day; a receipt that has expired has none. */
function receiptLink(
  { transaction: id, epoch, validUntil, consent, importedFrom }: Choice,
  { baseUrl, tokens, now, isWhole }: Shown,
): string | undefined {
  const until = Math.min(validUntil?.getTime() ?? Number.POSITIVE_INFINITY, now.getTime() + dayMs);
  if (!isWhole || !consent || importedFrom !== null || until <= now.getTime()) return undefined;
  const token = tokens?.mint({ id, use: 'receipt', epoch }, new Date(until));
  return linksOf(baseUrl, id, token).receipt;
}
