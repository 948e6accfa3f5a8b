import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Somebody else's site, under two origins: a page of it embeds forms. */
export interface HostSite {
  /** By address. */
  origin: string;
  /** The same pages by name: another origin. */
  otherOrigin: string;
  /** Puts a page there. @param headers of its response, beside the media type. @returns its path. */
  show(body: string, headers?: Record<string, string>): string;
  close(): Promise<void>;
}

/**
 * Every page notes what it is told: `told` all messages, `events` those of embed.js, `resizer` those of
 * iframe-resizer, `closing` its requests to close; events named in `kept` are cancelled.
 */
const ears = `<script>
  window.told = []; window.events = []; window.resizer = []; window.closing = 0; window.kept = [];
  addEventListener('message', ({ data }) => told.push(data));
  for (const name of ['ready', 'committed', 'cancelled', 'timeout', 'close', 'callback', 'stay', 'error', 'unreachable'])
    addEventListener('accord:' + name, (event) => {
      events.push([name, event.detail]);
      if (kept.includes(name)) event.preventDefault();
    });
</script>`;

export async function startHostSite(): Promise<HostSite> {
  interface Shown {
    body: string;
    headers?: Record<string, string>;
  }
  const pages = new Map<string, Shown>([['/thanks', { body: 'Thank you' }]]);
  const server = createServer((request, response) => {
    const shown = pages.get((request.url ?? '').split('?')[0] ?? '');
    const headers = { 'Content-Type': 'text/html; charset=utf-8', ...shown?.headers };
    response.writeHead(shown === undefined ? 404 : 200, headers);
    response.end(
      `<!doctype html><html lang="en"><title>Host</title><link rel="icon" href="data:,">${ears}${shown?.body}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    otherOrigin: `http://localhost:${port}`,
    show(body, headers = {}) {
      const path = `/page-${pages.size}`;
      pages.set(path, { body, headers });
      return path;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
