import { allowedNetworks } from '#lib/config/outbound-specs.ts';
import { defineService } from '#lib/lifecycle/service-definition.ts';
import { createAddressRules } from '#lib/outbound/address-rules.ts';
import { composePeers } from './compose.ts';
import { peersSpecs } from './config.ts';

/** The peers service, as processes see it. */
export const peersService = defineService({
  name: 'peers',
  migrations: new URL('./migrations', import.meta.url),
  specs: peersSpecs,
  secrets: ['instanceSigning', 'instanceSealing'],
  calls: ['auth', 'forms', 'transactions'],
  callers: {},
  async compose({ shared, db, settings, secrets, connect, standalone }) {
    const networks = allowedNetworks(settings, standalone);
    const peers = await composePeers({
      ...shared,
      db,
      auth: connect('auth'),
      forms: connect('forms'),
      transactions: connect('transactions'),
      settings: {
        trustedProxies: settings.TRUSTED_PROXIES,
        allowedNetworks: networks,
        plainLoopback: standalone && ['127.0.0.1', '::1'].some(createAddressRules(networks)),
      },
      signingKeys: secrets.instanceSigning,
      sealingKeys: secrets.instanceSealing,
    });
    return { ...peers, prefixes: ['/.well-known/accord', '/peers', '/federation'] };
  },
});
