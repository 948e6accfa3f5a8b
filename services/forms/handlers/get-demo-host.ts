import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';
import { sendOwnPage } from './send-own-page.ts';

/** GET /demo: a pretend site that embeds a form. */
export function getDemoHostHandler(dependencies: Dependencies): Handler {
  const { demo } = dependencies;
  return async (ctx) => {
    const formUrl = demo && (await demo.formUrl());
    if (!formUrl) throw fail('not-found', 'There is nothing at this address.');
    sendOwnPage(ctx, dependencies, { page: 'host', formUrl });
  };
}
