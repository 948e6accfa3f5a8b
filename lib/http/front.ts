import type { RequestListener } from 'node:http';

/** A path prefix and who serves it. */
export interface Route {
  prefix: string;
  handler: RequestListener;
}

/**
 * Dispatches by path prefix, longest first, as an Ingress does in distributed mode (architecture.md): no regular expressions, no methods.
 * `/user` covers `/user` and `/user/…`, not `/users`.
 */
export function createFront(routes: readonly Route[]): RequestListener {
  const ordered = [...routes].sort((a, b) => b.prefix.length - a.prefix.length);
  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] as string;
    const route = ordered.find(
      ({ prefix }) => prefix === '/' || path === prefix || path.startsWith(`${prefix}/`),
    );
    if (route) return route.handler(request, response);
    response.writeHead(404).end();
  };
}
