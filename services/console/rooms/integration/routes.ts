import type { Room } from '../room.ts';
import { codeRoutes } from './code.ts';
import { keyRoutes } from './keys.ts';
import { peerRoutes } from './peers.ts';
import { placesOf } from './places.ts';
import { webhookRoutes } from './webhooks.ts';

/** Where an organisation connects its own systems and other instances. */
export const integration: Room = {
  name: 'integration',
  path: '/integration',
  roles: ['operator'],
  views: ['keys', 'new', 'webhooks', 'webhook', 'peers', 'peer', 'code'],
  routes(router, kit) {
    router.get('/', (ctx) => kit.open(ctx, placesOf(ctx, kit)[0]?.href ?? kit.path));
    keyRoutes(router, kit);
    webhookRoutes(router, kit);
    peerRoutes(router, kit);
    codeRoutes(router, kit);
  },
};
