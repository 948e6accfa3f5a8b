import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';
import { sendOwnPage } from './send-own-page.ts';

/** GET / */
export function getWelcomeHandler(dependencies: Dependencies): Handler {
  const { demo, document, instance } = dependencies;
  return async (ctx) => {
    const formUrl = demo && (await demo.formUrl());
    sendOwnPage(ctx, dependencies, {
      page: 'welcome',
      version: document.info.version,
      demo: formUrl
        ? {
            formUrl,
            hostUrl: `${instance.baseUrl}/demo`,
            tokenUrl: demo.tokenUrl,
            accounts: demo.accounts,
          }
        : null,
    });
  };
}
