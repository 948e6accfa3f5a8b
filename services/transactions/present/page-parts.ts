import type { DataController } from '#lib/contracts/form-content.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageBase, PageEmbedding } from '#lib/contracts/page-base.ts';
import type { PageContact } from '#lib/contracts/pages.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type ReadTransaction, stateAt, type Transaction } from '../transaction/transaction.ts';

/** The data controller of an information: contact for questions, and name for the masthead. */
export interface Asker {
  contact: PageContact | null;
  asker: PageBase['asker'];
}

const unknown: Asker = { contact: null, asker: null };

/** The data controller in the texts of an information; a hidden one is not named in the masthead. */
export function askerOf(
  texts: { dataController?: DataController; dataControllerVisible?: boolean },
  lang: string,
): Asker {
  const { dataController, dataControllerVisible } = texts;
  if (!dataController) return unknown;
  const isNamed = dataController.company && dataControllerVisible !== false;
  return {
    contact: { ...dataController, lang },
    asker: isNamed ? { name: dataController.company as string, lang } : null,
  };
}

/** The data controller of a transaction without a receipt, from the current version of its information. */
export async function readAsker(
  forms: Pick<FormsOperations, 'describeForm'>,
  { transaction }: ReadTransaction,
  languages: string[],
): Promise<Asker> {
  try {
    const { info } = await forms.describeForm({ layout: transaction.layout, languages });
    return askerOf(info.content, info.content.lang);
  } catch (error) {
    // The information was withdrawn, for example; the page then has no controller.
    if (error instanceof Failure) return unknown;
    throw error;
  }
}

/** The facts that a page sends to the page that embeds it. */
export function embeddingOf({ transaction, now }: ReadTransaction): PageEmbedding {
  const { context, layout } = transaction;
  return {
    transaction: transaction.id,
    state: stateAt(transaction, now),
    iframeOrigin: context.iframeOrigin ?? null,
    callback: context.callback ?? null,
    callbackTriggerDelay: context.callbackTriggerDelay,
    includeIFrameResizer: layout.includeIFrameResizer,
  };
}

/** CSP sources that may embed the page: the `iframeOrigin` of the context, else EMBED_ORIGINS. */
export function frameAncestors(transaction: Pick<Transaction, 'context'> | undefined, embedOrigins: string) {
  return `'self' ${transaction?.context.iframeOrigin ?? embedOrigins}`;
}

/** The first theme that exists; other keys are ignored. */
export async function findTheme(
  forms: Pick<FormsOperations, 'theme'>,
  keys: (string | undefined)[],
  language: string,
) {
  for (const key of keys) {
    const theme = key ? await forms.theme({ key, language }) : null;
    if (theme) return theme;
  }
  return null;
}
