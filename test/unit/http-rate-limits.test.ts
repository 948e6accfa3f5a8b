import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { addressNetwork } from '#lib/http/client-address.ts';
import { createMemoryRateLimiter, defaultRateLimits } from '#lib/http/rate-limits.ts';

describe('the network of an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('%s is %s', (address, network) => {
    expect(addressNetwork(address)).toBe(network);
  });
});

describe('failed credentials', () => {
  const limiter = () => createMemoryRateLimiter({ ...defaultRateLimits, address: 2 });
  const from = (address: string) => ({ state: { address } }) as Context;

  it('are counted together for an IPv6 /64, and apart from its neighbour', async () => {
    const { countRefusal } = limiter();
    await countRefusal(from('2001:db8::1'));
    await countRefusal(from('2001:db8::2'));
    await expect(countRefusal(from('2001:db8::3'))).rejects.toMatchObject({ code: 'too-many-requests' });
    await countRefusal(from('2001:db8:0:1::1'));
  });

  it('are not counted once they turn out to be correct', async () => {
    const { countRefusal, forgetRefusal } = limiter();
    for (let n = 0; n < 5; n += 1) {
      await countRefusal(from('192.0.2.7'));
      await forgetRefusal(from('192.0.2.7'));
    }
    await countRefusal(from('192.0.2.7'));
  });
});
