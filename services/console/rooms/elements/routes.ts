import { activationRoutes } from '../../models/activation.ts';
import { modelRoutes } from '../../models/detail.ts';
import type { Content } from '../../models/editor.ts';
import { endingRoutes } from '../../models/endings.ts';
import type { ModelRoom } from '../../models/model-room.ts';
import { type ElementType, elementTypes, findElement } from '../../models/read-model.ts';
import { changeRoutes } from '../../models/version-changes.ts';
import type { Room } from '../room.ts';
import { compareContents } from './compare-contents.ts';
import { describeActivation, describeEnding } from './consequences.ts';
import { editedOf } from './content-values.ts';
import { detailRoutes } from './detail.ts';
import { editorRoutes } from './editor.ts';
import { fieldsOf } from './editor-fields.ts';
import { importRoutes } from './import.ts';
import { listRoutes } from './list.ts';
import { logoRoutes } from './logo.ts';
import { previewRoutes } from './preview.ts';

const room: ModelRoom<ElementType> = {
  words: 'elements',
  one: 'element',
  types: elementTypes,
  find: findElement,
  compare: async (ctx, tools, { type }, versions) => compareContents(tools.reader(ctx), type, versions),
  fieldsOf: (reader, { type }, version) => fieldsOf(reader, type, editedOf(type, version as Content)),
  describeEnding,
};

/** What people are asked, and what forms are made of: questions, information, themes, mails. */
export const elements: Room = {
  name: 'elements',
  path: '/elements',
  reads: 'listVersions',
  views: ['list', 'detail', 'edit', 'activate', 'logo'],
  routes(router, tools) {
    listRoutes(router, tools);
    importRoutes(router, tools);
    detailRoutes(router, tools);
    editorRoutes(router, tools);
    previewRoutes(router, tools);
    logoRoutes(router, tools);
    modelRoutes(router, tools, room);
    activationRoutes(router, tools, {
      ...room,
      describe: (ctx, activation) => describeActivation(ctx, tools, activation),
    });
    endingRoutes(router, tools, room);
    changeRoutes(router, tools, room);
  },
};
