import type { Middleware } from 'koa';

const exposed = 'Location, Link, Retry-After';

/**
 * Cross-origin rules (docs/interface.md, "Cross-origin requests"). Reading below an open path is for any origin, without credentials; everything else for
 * the listed origins, with Authorization. `CM_KEY` is never an allowed header: a key does not belong in a page.
 */
export function cors({
  origins,
  openReads,
}: {
  origins: readonly string[];
  openReads: (path: string) => boolean;
}): Middleware {
  return async (ctx, next) => {
    const origin = ctx.get('origin');
    // What is kept for one origin, or for none, is not the answer for another.
    ctx.res.appendHeader('Vary', 'Origin');
    if (origin === '') return next();
    const asked = ctx.method === 'OPTIONS' ? ctx.get('access-control-request-method') : '';
    const method = asked || ctx.method;
    const open = openReads(ctx.path) && (method === 'GET' || method === 'HEAD');
    const listed = origins.includes(origin);
    if (open || listed) {
      ctx.set('Access-Control-Allow-Origin', open && !listed ? '*' : origin);
      ctx.set('Access-Control-Expose-Headers', exposed);
    }
    if (!asked) return next();
    ctx.status = 204;
    if (!open && !listed) return;
    ctx.set('Access-Control-Allow-Methods', listed ? 'GET, HEAD, POST, PUT, DELETE' : 'GET, HEAD');
    ctx.set(
      'Access-Control-Allow-Headers',
      listed ? 'Authorization, Content-Type, Accept, Accept-Language, If-Match' : 'Accept, Accept-Language',
    );
    ctx.set('Access-Control-Max-Age', '600');
  };
}
