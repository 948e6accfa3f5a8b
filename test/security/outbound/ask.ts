import type { OutboundClient, OutboundRequest } from '#lib/outbound/outbound-client.ts';
import { OutboundFailed, OutboundRefused } from '#lib/outbound/targets.ts';

/** What became of a request in one word: the status of the answer, or why there is none. */
export async function ask(
  client: OutboundClient,
  url: string,
  request: Partial<OutboundRequest> = {},
): Promise<number | string> {
  try {
    return (await client.request({ method: 'POST', url, headers: {}, ...request })).status;
  } catch (error) {
    if (error instanceof OutboundRefused) return `refused: ${error.reason}`;
    if (error instanceof OutboundFailed) return `failed: ${error.reason}`;
    throw error;
  }
}
