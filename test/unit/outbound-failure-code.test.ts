import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { failureCode } from '#lib/outbound/failure-code.ts';
import { OutboundFailed, OutboundRefused, outboundTexts } from '#lib/outbound/targets.ts';

const english = JSON.parse(
  readFileSync(new URL('../../services/console/pages/locales/en.json', import.meta.url), 'utf8'),
) as Record<string, string>;

it('every failure of a call has a code, and the console has words for each', () => {
  for (const code of ['scheme', 'address', 'redirect', 'too-large', 'url', 'credentials'] as const)
    expect(failureCode(new OutboundRefused(code).message)).toBe(code);
  for (const code of ['dns', 'connect', 'tls', 'timeout', 'closed'] as const)
    expect(failureCode(new OutboundFailed(code, 'ECONNREFUSED').message)).toBe(code);
  expect(failureCode('The endpoint responded with 503.')).toBe('status');
  expect(failureCode('The peer answered 401.')).toBe('status');
  expect(failureCode('The acknowledgement of the peer was rejected (expired).')).toBe('acknowledgement');
  expect(failureCode('Something else.')).toBe('other');
  const said = [...Object.keys(outboundTexts), 'status', 'acknowledgement', 'no-response', 'not-sent'];
  for (const code of said) expect(english, code).toHaveProperty([`outbound.${code}`]);
});
