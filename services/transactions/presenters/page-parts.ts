import type { DataController } from '#lib/contracts/form-content.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageBase, PageEmbedding } from '#lib/contracts/page-base.ts';
import type { PageContact } from '#lib/contracts/pages.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type ReadTransaction, stateAt } from '../domain/transaction.ts';

/** The data controller of an information: whom the subject can ask, and who asks, for the masthead. */
export interface Asker {
  contact: PageContact | null;
  asker: PageBase['asker'];
}

const unknown: Asker = { contact: null, asker: null };

/** Who asks, by the texts of an information. One that is explicitly hidden is not named in the masthead either. */
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

/** Who asks in a transaction without a receipt, by its information as it is now. Nobody is named if that cannot be read. */
export async function readAsker(
  forms: Pick<FormsOperations, 'describeForm'>,
  { transaction }: ReadTransaction,
  languages: string[],
): Promise<Asker> {
  try {
    const { info } = await forms.describeForm({ layout: transaction.layout, languages });
    return askerOf(info.content, info.content.lang);
  } catch (error) {
    // Such as one that was withdrawn: the page does without.
    if (error instanceof Failure) return unknown;
    throw error;
  }
}

/** What the page tells the page that embeds it. */
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

/** Who may embed the page: the origin that the context names, else what the instance allows (security.md, "Pages"). */
export function frameAncestors({ transaction }: ReadTransaction, embedOrigins: string): string {
  const { iframeOrigin } = transaction.context;
  return iframeOrigin ? `'self' ${iframeOrigin}` : `'self' ${embedOrigins}`;
}
