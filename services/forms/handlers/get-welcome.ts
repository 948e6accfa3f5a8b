import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';
import { sendOwnPage } from './send-own-page.ts';

/** GET / */
export function getWelcomeHandler(dependencies: Dependencies): Handler {
  const { demo, document, authUrl, instance } = dependencies;
  return async (ctx) => {
    sendOwnPage(ctx, dependencies, {
      page: 'welcome',
      version: document.info.version,
      demo: demo && {
        formUrl: await demo.formUrl(),
        hostUrl: `${instance.baseUrl}/demo`,
        authUrl,
        accounts: demo.accounts,
      },
    });
  };
}
