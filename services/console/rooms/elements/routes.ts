import { changeRoutes } from '../../pages/version-changes.ts';
import type { Room } from '../room.ts';
import { activationRoutes } from './activation.ts';
import { compareContents } from './compare-contents.ts';
import { detailRoutes } from './detail.ts';
import { editorRoutes } from './editor.ts';
import { endingRoutes } from './endings.ts';
import { importRoutes } from './import.ts';
import { listRoutes } from './list.ts';
import { previewRoutes } from './preview.ts';
import { findElement } from './read-element.ts';

/** What people are asked, and what forms are made of: questions, information, themes, mails. */
export const elements: Room = {
  name: 'elements',
  path: '/elements',
  roles: ['operator'],
  views: ['list', 'new', 'detail', 'edit', 'unshown', 'activate'],
  routes(router, kit) {
    listRoutes(router, kit);
    importRoutes(router, kit);
    detailRoutes(router, kit);
    editorRoutes(router, kit);
    previewRoutes(router, kit);
    activationRoutes(router, kit);
    endingRoutes(router, kit);
    changeRoutes(router, kit, {
      find: findElement,
      compare: (reader, { type }, versions) => compareContents(reader, type, versions),
    });
  },
};
