import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Assets } from '#lib/http/assets.ts';
import { contentSecurityPolicy } from '#lib/http/security-headers.ts';
import type { PageModel } from '../../../services/forms/pages/page-model.ts';
import type { PageRenderer } from '../../../services/forms/pages/page-renderer.ts';

/** Serves rendered pages and assets with the product's own policy, without any service behind them. */
export interface PageServer {
  origin: string;
  /** Bodies of form posts, oldest first. */
  posts: { path: string; fields: [string, string][] }[];
  close(): Promise<void>;
}

/** @param pages by path, asked at each request, whatever its method. @param extra files by path. */
export async function startPageServer(
  { renderer, assets }: { renderer: PageRenderer; assets: Assets },
  pages: (path: string) => PageModel | null,
  extra: Record<string, { type: string; body: string }> = {},
): Promise<PageServer> {
  const posts: PageServer['posts'] = [];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const file = assets.get(path) ?? (Object.hasOwn(extra, path) ? extra[path] : null);
    if (file) {
      const { body } = file;
      return void response
        .setHeader('Content-Type', file.type)
        .end(typeof body === 'string' ? body : body.plain);
    }
    const model = pages(path);
    if (!model) return void response.writeHead(404).end();
    if (request.method === 'POST')
      posts.push({ path, fields: [...new URLSearchParams(await text(request))] });
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader(
      'Content-Security-Policy',
      contentSecurityPolicy('http://localhost:* http://127.0.0.1:*', [], [], model.page === 'mail'),
    );
    response.end(renderer.render(model));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    posts,
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
