import { isIP } from 'node:net';
import { createAddressRules } from '#lib/outbound/address-rules.ts';
import { type Resolve, resolveBySystem } from '#lib/outbound/guarded-lookup.ts';
import { OutboundRefused } from '#lib/outbound/outbound-errors.ts';
import { readTarget } from '#lib/outbound/read-target.ts';

const resolveMs = 2_000;

/**
 * Says beforehand why an address would not be called, so that whoever enters it is told. Each call is checked again: a name may lead
 * elsewhere by then. A name that nobody knows at the moment is fine.
 * @returns a check that resolves with the refusal, or with undefined.
 */
export function createUrlCheck({
  allowedNetworks,
  resolve = resolveBySystem,
}: {
  allowedNetworks: readonly string[];
  resolve?: Resolve;
}): (url: string) => Promise<OutboundRefused | undefined> {
  const isAllowed = createAddressRules(allowedNetworks);
  return async (url) => {
    try {
      const { hostname } = readTarget(url, isAllowed);
      if (isIP(hostname) !== 0) return undefined;
      const addresses = await inTime(resolve(hostname));
      const hopeless = addresses.length > 0 && !addresses.some(isAllowed);
      return hopeless ? new OutboundRefused('address') : undefined;
    } catch (error) {
      if (error instanceof OutboundRefused) return error;
      throw error;
    }
  };
}

/** What takes too long, or fails, is nothing. */
async function inTime(resolving: Promise<readonly string[]>): Promise<readonly string[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<readonly string[]>((done) => {
    timer = setTimeout(() => done([]), resolveMs);
  });
  const found = await Promise.race([resolving.catch(() => []), late]);
  clearTimeout(timer);
  return found;
}
