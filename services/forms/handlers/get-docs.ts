import type { Handler } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/security-headers.ts';
import { type EncodedBody, encodeOnce, sendEncoded } from '#lib/http/send-encoded.ts';
import type { Dependencies } from './dependencies.ts';
import { renderOwnPage } from './send-own-page.ts';

/** GET /docs: one page for all readers, because the contract is written in English. */
export function getDocsHandler(dependencies: Dependencies): Handler {
  const { document, authUrl, publicClient } = dependencies;
  const signIn = publicClient === null ? null : { tokenUrl: authUrl, clientId: publicClient };
  const shown = document as unknown as Record<string, unknown>;
  let page: EncodedBody | undefined;
  return async (ctx) => {
    page ??= encodeOnce(renderOwnPage(dependencies, { page: 'api', document: shown, signIn }, 'en'));
    sendPage(ctx, '');
    await sendEncoded(ctx, page);
  };
}
