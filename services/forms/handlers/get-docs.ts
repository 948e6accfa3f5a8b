import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';
import { sendOwnPage } from './send-own-page.ts';

/** GET /docs */
export function getDocsHandler(dependencies: Dependencies): Handler {
  const { document, authUrl, publicClient } = dependencies;
  const signIn = publicClient === null ? null : { tokenUrl: authUrl, clientId: publicClient };
  const shown = document as unknown as Record<string, unknown>;
  return (ctx) => sendOwnPage(ctx, dependencies, { page: 'api', document: shown, signIn });
}
