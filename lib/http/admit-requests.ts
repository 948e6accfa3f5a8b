import type { Middleware } from 'koa';
import type { Admit } from '#lib/http/overload-guard.ts';

/** Guards what a service serves beside the contract: everything at and below these paths. */
export function admitRequests(admit: Admit | undefined, prefixes: readonly string[]): Middleware {
  return async (ctx, next) => {
    const meant = prefixes.some((prefix) => ctx.path === prefix || ctx.path.startsWith(`${prefix}/`));
    if (!admit || !meant) return next();
    const place = await admit({}, ctx.res);
    ctx.state.place = place;
    try {
      await next();
    } finally {
      place.leave();
    }
  };
}
