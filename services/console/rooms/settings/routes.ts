import type { Room } from '../room.ts';
import { accountRoutes } from './accounts.ts';
import { instanceRoutes } from './instance.ts';
import { ownRoutes } from './own.ts';

/** What the instance is and how it is set, its accounts, and the person's own settings. */
export const settings: Room = {
  name: 'settings',
  path: '/settings',
  reads: 'getUser',
  places: [
    ['', 'settings.place', 'getSettings'],
    ['/accounts', 'settings.place.accounts', 'listAccounts'],
    ['/you', 'settings.place.you', 'changePassword'],
  ],
  views: ['instance', 'change', 'logo', 'outside', 'account', 'own'],
  routes(router, tools) {
    instanceRoutes(router, tools);
    accountRoutes(router, tools);
    ownRoutes(router, tools);
  },
};
