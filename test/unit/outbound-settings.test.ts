import { describe, expect, it } from 'vitest';
import { allowedNetworks } from '#lib/config/specs.ts';

describe('the networks that may be called beside the public internet', () => {
  it('are those that the operator names', () => {
    for (const standalone of [true, false])
      for (const HOST of ['127.0.0.1', '0.0.0.0'])
        expect(allowedNetworks({ OUTBOUND_ALLOWED_NETWORKS: ['10.0.0.0/8'], HOST }, standalone)).toEqual([
          '10.0.0.0/8',
        ]);
  });

  it.each(['127.0.0.1', '127.3.2.1', '::1', 'localhost'])(
    'are by default loopback in standalone mode on HOST %s, and none for separate services',
    (HOST) => {
      const settings = { OUTBOUND_ALLOWED_NETWORKS: undefined, HOST };
      expect(allowedNetworks(settings, true)).toEqual(['127.0.0.0/8', '::1/128']);
      expect(allowedNetworks(settings, false)).toEqual([]);
    },
  );

  it.each(['0.0.0.0', '::', '192.168.1.4', 'accord.internal', ''])(
    'are by default none where other machines reach this one (HOST %j)',
    (HOST) => {
      expect(allowedNetworks({ OUTBOUND_ALLOWED_NETWORKS: undefined, HOST }, true)).toEqual([]);
    },
  );
});
