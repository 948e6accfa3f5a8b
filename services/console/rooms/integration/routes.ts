import type { Room } from '../room.ts';
import { codeRoutes } from './code.ts';
import { keyRoutes } from './keys.ts';
import { peerRoutes } from './peers.ts';
import { webhookRoutes } from './webhooks.ts';

/** Where an organisation connects its own systems and other instances. */
export const integration: Room = {
  name: 'integration',
  path: '/integration',
  reads: 'listWebhooks',
  places: [
    ['/security', 'integration.security', 'listKeys'],
    ['/webhooks', 'integration.webhooks', 'listWebhooks'],
    ['/peers', 'integration.peers', 'listPeers'],
    ['/code', 'integration.code', 'listModels'],
  ],
  views: ['webhook', 'delivery', 'peer', 'code'],
  routes(router, tools) {
    router.get('/', (ctx) =>
      tools.open(ctx, `${tools.path}/${tools.may(ctx, 'listKeys') ? 'security' : 'webhooks'}`),
    );
    keyRoutes(router, tools);
    webhookRoutes(router, tools);
    peerRoutes(router, tools);
    codeRoutes(router, tools);
  },
};
