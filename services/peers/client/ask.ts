import { type Failure, fail } from '#lib/errors/fail.ts';
import type { OutboundClient } from '#lib/outbound/outbound-client.ts';
import { OutboundRefused } from '#lib/outbound/outbound-errors.ts';
import { type Ask, addressFault } from './peer-client.ts';

/** What an administrator can do about an address that is not called. */
const explanations: Partial<Record<OutboundRefused['reason'], string>> = {
  address:
    'This address is in a private network. If the partner is meant to be there, the operator adds it to OUTBOUND_ALLOWED_NETWORKS.',
  redirect: 'The instance at this address sends callers elsewhere; use the address where it is.',
  'too-large': 'The instance at this address answers too much.',
};

/** Asks other instances through the guarded client: five seconds, two mebibytes unless the caller takes more (federation.md, "Trust"). */
export function createAsk(outbound: Pick<OutboundClient, 'request'>): Ask {
  return async (request) => {
    try {
      return await outbound.request(request);
    } catch (error) {
      throw failureOf(error);
    }
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof OutboundRefused)
    return addressFault(explanations[error.reason] ?? 'This is no address that can be called.', error);
  return fail('unavailable', 'The partner cannot be reached. Nothing was changed; try again later.', {
    headers: { 'Retry-After': '30' },
    cause: error,
  });
}
