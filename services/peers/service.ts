import { allowedNetworks } from '#lib/config/specs.ts';
import { createAddressRules } from '#lib/outbound/address-rules.ts';
import { defineService } from '#lib/runtime/service-definition.ts';
import { peersSpecs } from './config.ts';

/** Who has the audit log of an area. */
const serviceOf = {
  auth: 'auth',
  models: 'forms',
  consents: 'transactions',
  webhooks: 'webhooks',
} as const;

/** The peers service, as processes see it. */
export const peersService = defineService({
  name: 'peers',
  folder: import.meta.dirname,
  tables: ['events', 'inbox', 'audit', 'settings'],
  specs: peersSpecs,
  secrets: ['instanceSigning', 'instanceSealing'],
  calls: ['auth', 'forms', 'transactions', 'webhooks'],
  callers: {},
  async load() {
    const { composePeers } = await import('./compose.ts');
    return {
      async compose({ shared, db, settings, secrets, connect, standalone }) {
        const networks = allowedNetworks(settings, standalone);
        // An instance with an http base URL runs on a developer's machine. Its peers on this machine may use
        // http if calls to loopback addresses are allowed.
        const isPlain = standalone || shared.instance.baseUrl.startsWith('http:');
        const peers = await composePeers({
          ...shared,
          db,
          auth: connect('auth'),
          forms: connect('forms'),
          transactions: connect('transactions'),
          auditOf: (area) => connect(serviceOf[area]),
          settings: {
            corsOrigins: settings.CORS_ORIGINS,
            trustedProxies: settings.TRUSTED_PROXIES,
            allowedNetworks: networks,
            witnesses: settings.WITNESS_URL,
            plainLoopback: isPlain && ['127.0.0.1', '::1'].some(createAddressRules(networks)),
          },
          signingKeys: secrets.instanceSigning,
          sealingKeys: secrets.instanceSealing,
        });
        return {
          ...peers,
          prefixes: [
            '/.well-known/accord',
            '/.well-known/jwks.json',
            '/peers',
            '/federation',
            '/audit/peers',
            '/audit/checkpoints',
          ],
        };
      },
    };
  },
});
