import { fail } from '#lib/errors/fail.ts';
import { type Ask, addressFault } from './peer-client.ts';

const timeLimitMs = 5_000;
const sizeLimit = 2 * 1024 * 1024;

/** Asks other instances: no redirects, five seconds, two mebibytes (federation.md, "Trust"). */
export function createAsk(): Ask {
  return async ({ method, url, headers, body }) => {
    try {
      const signal = AbortSignal.timeout(timeLimitMs);
      const response = await fetch(url, {
        method,
        headers,
        signal,
        redirect: 'manual',
        ...(body ? { body: Buffer.from(body) } : {}),
      });
      if (response.status >= 300 && response.status < 400)
        throw addressFault(
          'The instance at this address sends callers elsewhere; use the address where it is.',
        );
      const received = await response.arrayBuffer();
      if (received.byteLength > sizeLimit)
        throw addressFault('The instance at this address answers too much.');
      return { status: response.status, body: new Uint8Array(received) };
    } catch (error) {
      if (error instanceof Error && error.name === 'Failure') throw error;
      throw fail('unavailable', 'The partner cannot be reached. Nothing was changed; try again later.', {
        headers: { 'Retry-After': '30' },
        cause: error,
      });
    }
  };
}
