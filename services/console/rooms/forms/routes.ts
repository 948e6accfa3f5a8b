import { activationRoutes } from '../../models/activation.ts';
import { modelRoutes } from '../../models/detail.ts';
import { endingRoutes } from '../../models/endings.ts';
import type { ModelRoom } from '../../models/model-room.ts';
import { findForm } from '../../models/read-model.ts';
import { changeRoutes } from '../../models/version-changes.ts';
import type { Room } from '../room.ts';
import { addressRoutes } from './address.ts';
import { compareLayouts, referencesIn } from './compare-layouts.ts';
import { designerRoutes } from './designer.ts';
import { designerFields } from './designer-view.ts';
import { detailRoutes } from './detail.ts';
import { readNamed, readNewDrafts } from './elements.ts';
import { failureOfDesigner } from './layout-faults.ts';
import { layoutOf } from './layout-values.ts';
import { listRoutes } from './list.ts';
import { previewRoutes } from './preview.ts';
import { trialRoutes } from './trial.ts';

const room: ModelRoom<'layout'> = {
  words: 'forms',
  one: 'form',
  types: ['layout'],
  find: findForm,
  async compare(ctx, tools, _, versions) {
    const [before, after] = [versions.before && layoutOf(versions.before), layoutOf(versions.after)];
    const named = [before, after].flatMap((each) => (each ? referencesIn(each) : []));
    const names = new Map(
      (await readNamed(ctx, tools, named)).map(({ reference, name }) => [reference, name]),
    );
    return compareLayouts(tools.reader(ctx), { before, after, nameOf: (key) => names.get(key) ?? key });
  },
  fieldsOf: (reader, _, version) => designerFields(reader, layoutOf(version)),
};

/** Layouts, which people know as forms: which elements they ask, in which order. */
export const forms: Room = {
  name: 'forms',
  path: '/forms',
  reads: 'listVersions',
  views: ['list', 'detail', 'designer', 'activate', 'preview', 'address'],
  routes(router, tools) {
    listRoutes(router, tools);
    detailRoutes(router, tools);
    designerRoutes(router, tools);
    modelRoutes(router, tools, room);
    activationRoutes(router, tools, {
      ...room,
      placeFaults: failureOfDesigner,
      partsOf: (ctx, { version }) => readNewDrafts(ctx, tools, referencesIn(layoutOf(version))),
      // A form that can be used for the first time is of no use before people can open it.
      nextPath({ entry, href }) {
        const isFirst = !entry.versions.some(({ serial }) => serial);
        return isFirst ? `${href}/address` : href;
      },
      describe(ctx, { active }) {
        const { t } = tools.reader(ctx);
        const effects = active ? [t('activate.next'), t('activate.open')] : [t('activate.first')];
        return { effects, locals: { isFirst: !active } };
      },
    });
    endingRoutes(router, tools, room);
    addressRoutes(router, tools);
    previewRoutes(router, tools);
    trialRoutes(router, tools);
    changeRoutes(router, tools, room);
  },
};
