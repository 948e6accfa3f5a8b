import type { Room } from '../room.ts';
import { activationRoutes } from './activation.ts';
import { detailRoutes } from './detail.ts';
import { editorRoutes } from './editor.ts';
import { endingRoutes } from './endings.ts';
import { listRoutes } from './list.ts';

/** What people are asked, and what forms are made of: questions, information, themes, mails. */
export const elements: Room = {
  name: 'elements',
  path: '/elements',
  roles: ['operator'],
  views: ['list', 'new', 'detail', 'edit', 'activate'],
  routes(router, kit) {
    listRoutes(router, kit);
    detailRoutes(router, kit);
    editorRoutes(router, kit);
    activationRoutes(router, kit);
    endingRoutes(router, kit);
  },
};
