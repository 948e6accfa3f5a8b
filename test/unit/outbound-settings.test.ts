import { describe, expect, it } from 'vitest';
import { allowedNetworks } from '#lib/config/outbound-specs.ts';

describe('the networks that may be called beside the public internet', () => {
  it('are those that the operator names', () => {
    for (const standalone of [true, false])
      expect(allowedNetworks({ OUTBOUND_ALLOWED_NETWORKS: ['10.0.0.0/8'] }, standalone)).toEqual([
        '10.0.0.0/8',
      ]);
  });

  it('are else the machine’s own in standalone, and none for separate services', () => {
    expect(allowedNetworks({ OUTBOUND_ALLOWED_NETWORKS: undefined }, true)).toEqual([
      '127.0.0.0/8',
      '::1/128',
    ]);
    expect(allowedNetworks({ OUTBOUND_ALLOWED_NETWORKS: undefined }, false)).toEqual([]);
  });
});
