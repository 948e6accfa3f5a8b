import type Router from '@koa/router';
import { draftEditor } from '../../models/editor.ts';
import { findForm } from '../../models/read-model.ts';
import type { Edited } from '../../pages/merge.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { applyOp } from './designer-ops.ts';
import { type Designed, designerView } from './designer-view.ts';
import { failureOfDesigner } from './layout-faults.ts';
import { layoutIn, layoutOf, mergeRules, postedLayout, versionBody } from './layout-values.ts';

const saving = ['save', 'preview', 'activate'];

/** The designer: which elements a form asks, in which order, with which options. It saves a draft. */
export function designerRoutes(router: Router, tools: RoomTools): void {
  draftEditor<'layout', Designed>(router, tools, {
    find: findForm,
    rules: mergeRules,
    editedOf: (_, content) => editOf(layoutOf(content)),
    typedIn: (posted) => editOf(postedLayout(posted)),
    bodyOf: (_, edit, stored) => versionBody(layoutIn(edit), stored),
    change(edit, op, posted) {
      if (saving.includes(op)) return undefined;
      const { layout, focus } = applyOp(layoutIn(edit), op, posted);
      return { ...edit, ...editOf(layoutIn(layout)), focus };
    },
    async show(ctx, form, edit) {
      tools.require(ctx, 'createVersion');
      const status = edit.isMerged ? 412 : edit.failure?.status;
      await tools.page(ctx, 'designer', await designerView(ctx, tools, form, edit), status);
    },
    saved: (ctx, { href }, { op }) =>
      op === 'save' ? tools.open(ctx, `${href}/edit`, 'formSaved') : tools.open(ctx, `${href}/${op}`),
    placeFaults: failureOfDesigner,
  });
}

/** The languages and inputs of a layout alone. */
function editOf({ languages, values }: Edited): Edited {
  return { languages, values };
}
