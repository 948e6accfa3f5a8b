import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An instance as other products of the interface are: no keys, no signed receipts, at `/cm`. */
export async function listenAsProduct(url: string): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const address = request.url?.replace(/^\/cm(?=\/)/, '') ?? '';
    const isKnown =
      request.url?.startsWith('/cm/') && /^\/(models|subjects|records|receipts)\b/.test(address);
    if (!isKnown || request.headers.accept !== 'application/json') {
      response.writeHead(isKnown ? 406 : 404).end();
      return;
    }
    const headers = { CM_KEY: String(request.headers.cm_key), Accept: 'application/json' };
    const found = await fetch(new URL(address, url), { headers });
    const link = found.headers.get('link');
    response.writeHead(found.status, { ...(link && { Link: link }) }).end(await found.text());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}
