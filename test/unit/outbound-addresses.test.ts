import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAddressRules } from '#lib/outbound/address-rules.ts';

const publicOnly = createAddressRules([]);

/**
 * First and last address of each block of the IANA IPv4 Special-Purpose Address Registry, of multicast and of
 * reserved space.
 */
const special = [
  ...['0.0.0.0-0.255.255.255', '10.0.0.0-10.255.255.255', '100.64.0.0-100.127.255.255'],
  ...['127.0.0.0-127.255.255.255', '169.254.0.0-169.254.255.255', '172.16.0.0-172.31.255.255'],
  ...[
    '192.0.0.0-192.0.0.255',
    '192.0.2.0-192.0.2.255',
    '192.31.196.0-192.31.196.255',
    '192.52.193.0-192.52.193.255',
  ],
  ...['192.88.99.0-192.88.99.255', '192.168.0.0-192.168.255.255', '192.175.48.0-192.175.48.255'],
  ...['198.18.0.0-198.19.255.255', '198.51.100.0-198.51.100.255', '203.0.113.0-203.0.113.255'],
  ...['224.0.0.0-255.255.255.255', '168.63.129.16-168.63.129.16'],
].map((range) => range.split('-') as [string, string]);

const toNumber = (address: string) => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const toText = (number: number) =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
const blocked = new BlockList();
for (const [first, last] of special) blocked.addRange(first, last);

describe('without allowed networks', () => {
  it.each(special)('no address from %s to %s is called, and the ones beside it are', (first, last) => {
    expect([first, last].map(publicOnly)).toEqual([false, false]);
    for (const beside of [toNumber(first) - 1, toNumber(last) + 1]) {
      if (beside < 0 || beside > 0xffffffff) continue;
      expect(publicOnly(toText(beside))).toBe(!blocked.check(toText(beside)));
    }
  });

  it('an IPv4 address is called exactly if it is in none of these ranges, alone and within an IPv6 address never', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), (number) => {
        const address = toText(number);
        expect(publicOnly(address)).toBe(!blocked.check(address));
        for (const prefix of ['::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '::'])
          expect(publicOnly(`${prefix}${address}`)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ...[
      '2000::1',
      '2001:200::1',
      '2001:4860:4860::8888',
      '2001:db7:ffff::1',
      '2001:db9::1',
      '2003::1',
      '2606:4700::1111',
    ],
    ...['2620:4f:7fff::1', '2620:4f:8001::1', '2a00:1450:4001:81b::200e', '3ffe:ffff::1', '3fff:1000::1'],
    ...['2a00:1450::5efe:808:808', '2a00:1450::200:5efe:8.8.8.8'],
  ])('%s is called', (address) => {
    expect(publicOnly(address)).toBe(true);
  });

  it.each([
    ...[
      '::',
      '::1',
      '100::1',
      '2001::1',
      '2001:1ff:ffff::1',
      '2001:db8::1',
      '2002:808:808::1',
      '3fff:fff::1',
      '4000::1',
    ],
    ...[
      '5f00::1',
      'fc00::1',
      'fd00::1',
      'fe80::1',
      'fec0::1',
      'ff02::1',
      '1fff:ffff::1',
      '2a00:1450::5efe:10.0.0.1',
    ],
    ...[
      '2001:4860::8888%eth0',
      '8.8.8.8:80',
      '8.8.8',
      '134744072',
      '',
      'example.org',
      '[2003::1]',
      ' 8.8.8.8',
      '08.8.8.8',
    ],
  ])('“%s” is not called', (address) => {
    expect(publicOnly(address)).toBe(false);
  });
});

describe('an allowed network', () => {
  it('opens its own addresses and no others', () => {
    const rules = createAddressRules(['10.1.0.0/16', 'fd12::/32', '127.0.0.1/32']);
    const open = ['10.1.0.0', '10.1.255.255', 'fd12::1', '127.0.0.1', '8.8.8.8'];
    const closed = [
      '10.0.255.255',
      '10.2.0.0',
      'fd12:1::1',
      '127.0.0.2',
      '::1',
      '::ffff:10.1.0.1',
      '::ffff:8.8.8.8',
    ];
    expect(open.map(rules)).toEqual(open.map(() => true));
    expect(closed.map(rules)).toEqual(closed.map(() => false));
  });

  it('of a translator opens what is public behind it, and no inner address', () => {
    const rules = createAddressRules(['64:ff9b::/96', '2002::/16', '2001::/32', '::ffff:0:0/96', '::/96']);
    for (const [of8, of10] of [
      ['64:ff9b::8.8.8.8', '64:ff9b::10.0.0.1'],
      ['::ffff:8.8.8.8', '::ffff:10.0.0.1'],
      ['::8.8.8.8', '::10.0.0.1'],
      ['2002:808:808::1', '2002:a00:1::1'],
      ['2001:0:808:808::f7f7:f7f7', '2001:0:808:808::f5ff:fffe'],
      ['2001:0:808:808::f7f7:f7f7', '2001:0:a00:1::f7f7:f7f7'],
    ] as const)
      expect([of8, rules(of8), of10, rules(of10)]).toEqual([of8, true, of10, false]);
  });

  it('of a translator and an inner network together open the inner network behind it', () => {
    const rules = createAddressRules(['64:ff9b::/96', '10.0.0.0/8']);
    expect(['64:ff9b::10.0.0.1', '64:ff9b::192.168.0.1'].map(rules)).toEqual([true, false]);
  });

  it.each([
    ['64:ff9b:1::/48', '64:ff9b:1:808:8:800::', '64:ff9b:1:a00:0:100::'],
    ['64:ff9b:1:ab00::/56', '64:ff9b:1:ab08:8:808::', '64:ff9b:1:ab0a:0:1::'],
    ['64:ff9b:1:abcd::/64', '64:ff9b:1:abcd:8:808:800::', '64:ff9b:1:abcd:a:0:100::'],
    ['64:ff9b:1:fffe::/96', '64:ff9b:1:fffe::8.8.8.8', '64:ff9b:1:fffe::10.0.0.1'],
  ])('of a translator of one’s own (%s) is read by the length of its prefix', (network, of8, of10) => {
    expect([of8, of10].map(createAddressRules([network]))).toEqual([true, false]);
  });

  it('that is everything opens everything but what has a zone', () => {
    const rules = createAddressRules(['0.0.0.0/0', '::/0']);
    const open = [
      '127.0.0.1',
      '::1',
      '::',
      'fe80::1',
      '::ffff:127.0.0.1',
      '64:ff9b:1::7f00:1',
      '2002:7f00:1::1',
    ];
    expect(open.map(rules)).toEqual(open.map(() => true));
    expect(rules('fe80::1%lo')).toBe(false);
  });
});
