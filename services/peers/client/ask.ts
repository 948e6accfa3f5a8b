import { fail } from '#lib/errors/fail.ts';
import { type Ask, addressFault } from './peer-client.ts';

const timeLimitMs = 5_000;
const sizeLimit = 2 * 1024 * 1024;

/** Asks other instances: no redirects, five seconds, two mebibytes unless the caller takes more (federation.md, "Trust"). */
export function createAsk(): Ask {
  return async ({ method, url, headers, body, mostBytes = sizeLimit }) => {
    try {
      const response = await fetch(url, {
        method,
        headers,
        signal: AbortSignal.timeout(timeLimitMs),
        redirect: 'manual',
        ...(body ? { body: Buffer.from(body) } : {}),
      });
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel();
        throw addressFault(
          'The instance at this address sends callers elsewhere; use the address where it is.',
        );
      }
      return { status: response.status, body: await readBody(response, mostBytes) };
    } catch (error) {
      if (error instanceof Error && error.name === 'Failure') throw error;
      throw fail('unavailable', 'The partner cannot be reached. Nothing was changed; try again later.', {
        headers: { 'Retry-After': '30' },
        cause: error,
      });
    }
  };
}

/** Ends when there is too much, however much there would be. */
async function readBody(response: Response, mostBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw addressFault('The instance at this address answers too much.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
