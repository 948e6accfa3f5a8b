import { changeRoutes } from '../../pages/version-changes.ts';
import type { Room } from '../room.ts';
import { activationRoutes } from './activation.ts';
import { compareLayouts } from './compare-layouts.ts';
import { designerRoutes } from './designer.ts';
import { detailRoutes } from './detail.ts';
import { endingRoutes } from './endings.ts';
import { layoutOf } from './layout-values.ts';
import { listRoutes } from './list.ts';
import { previewRoutes } from './preview.ts';
import { findForm } from './read-form.ts';
import { trialRoutes } from './trial.ts';

/** Layouts, which people know as forms: which elements they ask, in which order. */
export const forms: Room = {
  name: 'forms',
  path: '/forms',
  roles: ['operator'],
  views: ['list', 'new', 'detail', 'designer', 'activate', 'preview'],
  routes(router, kit) {
    listRoutes(router, kit);
    detailRoutes(router, kit);
    designerRoutes(router, kit);
    activationRoutes(router, kit);
    endingRoutes(router, kit);
    previewRoutes(router, kit);
    trialRoutes(router, kit);
    changeRoutes(router, kit, {
      find: findForm,
      compare: (reader, _, { before, after }) =>
        compareLayouts(reader, before && layoutOf(before), layoutOf(after)),
    });
  },
};
