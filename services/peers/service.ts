import { defineService } from '#lib/lifecycle/service-definition.ts';
import { composePeers } from './compose.ts';
import { peersSpecs } from './config.ts';

/** The peers service, as processes see it. */
export const peersService = defineService({
  name: 'peers',
  migrations: new URL('./migrations', import.meta.url),
  specs: peersSpecs,
  secrets: ['instanceSigning', 'instanceSealing'],
  calls: ['auth', 'forms'],
  callers: {},
  async compose({ shared, db, settings, secrets, connect, standalone }) {
    const peers = await composePeers({
      ...shared,
      db,
      auth: connect('auth'),
      forms: connect('forms'),
      settings: { trustedProxies: settings.TRUSTED_PROXIES, plainLoopback: standalone },
      signingKeys: secrets.instanceSigning,
      sealingKeys: secrets.instanceSealing,
    });
    return { ...peers, prefixes: ['/.well-known/accord', '/peers', '/federation'] };
  },
});
