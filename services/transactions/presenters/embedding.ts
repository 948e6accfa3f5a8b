import type { PageEmbedding } from '#lib/contracts/page-base.ts';
import { stateAt } from '../domain/states.ts';
import type { ReadTransaction } from '../domain/transaction.ts';

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
