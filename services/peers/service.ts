import { allowedNetworks, outboundSpecs } from '#lib/config/specs.ts';
import { createAddressRules } from '#lib/outbound/address-rules.ts';
import { defineService } from '#lib/runtime/service-definition.ts';
import { composePeers } from './compose.ts';

/** The peers service, as processes see it. */
export const peersService = defineService({
  name: 'peers',
  migrations: new URL('./migrations', import.meta.url),
  specs: outboundSpecs,
  secrets: ['instanceSigning', 'instanceSealing'],
  calls: ['auth', 'forms', 'transactions'],
  callers: {},
  async compose({ shared, db, settings, secrets, connect, standalone }) {
    const networks = allowedNetworks(settings, standalone);
    // An instance that is on plain http itself is on a developer's machine; others there may be so, too, if
    // loopback is allowed at all.
    const isPlain = standalone || shared.instance.baseUrl.startsWith('http:');
    const peers = await composePeers({
      ...shared,
      db,
      auth: connect('auth'),
      forms: connect('forms'),
      transactions: connect('transactions'),
      settings: {
        trustedProxies: settings.TRUSTED_PROXIES,
        allowedNetworks: networks,
        plainLoopback: isPlain && ['127.0.0.1', '::1'].some(createAddressRules(networks)),
      },
      signingKeys: secrets.instanceSigning,
      sealingKeys: secrets.instanceSealing,
    });
    return { ...peers, prefixes: ['/.well-known/accord', '/peers', '/federation'] };
  },
});
