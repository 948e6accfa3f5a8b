import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { isSameEdit, mergeEdits } from '../../pages/merge.ts';
import { baseOf, conflictsIn, isOvertaken, overtaken, takeTheirs } from '../../pages/merge-form.ts';
import { applyOp } from './designer-ops.ts';
import { type Designed, designerView } from './designer-view.ts';
import { failureOfDesigner } from './layout-faults.ts';
import {
  editedOf,
  emptyLayout,
  type LayoutValues,
  layoutOf,
  mergeRules,
  postedLayout,
  versionBody,
} from './layout-values.ts';
import { type FoundForm, findForm, findVersion } from './read-form.ts';

/** The designer: which elements a form asks, in which order, with which options. It saves a draft. */
export function designerRoutes(router: Router, kit: RoomKit): void {
  const show = async (ctx: Context, form: FoundForm, designed: Designed) => {
    if (!kit.may(ctx, 'createVersion')) throw new ApiFailure(403, {});
    const status = designed.isMerged ? 412 : designed.failure?.status;
    await kit.page(ctx, 'designer', await designerView(ctx, kit, form, designed), status);
  };

  router.get('/:key/edit', async (ctx) => {
    const form = await findForm(ctx, kit);
    const kept = kit.kept(ctx);
    if (kept) return show(ctx, form, designedIn(kept));
    const { layout, version, draft, etag } = await readLayout(ctx, form);
    // A form that was begun from the page of an element asks this element.
    const added = [ctx.query.add].flat()[0];
    const isAdded = added !== undefined && !version;
    await show(ctx, form, {
      layout: isAdded ? { ...layout, elements: [added] } : layout,
      isChanged: isAdded,
      base: editedOf(layout),
      conflicts: [],
      draft,
      etag,
      word: '',
    });
  });

  router.post('/:key/edit', async (ctx) => {
    const posted = kit.posted(ctx);
    const designed = designedIn(posted);
    const form = await findForm(ctx, kit);
    const op = posted.op?.[0] ?? 'save';
    const taken = takeTheirs(posted, op);
    if (taken) {
      const { values, conflicts } = taken;
      return show(ctx, form, { ...designed, layout: postedLayout(values), conflicts });
    }
    if (!['save', 'preview', 'activate'].includes(op)) {
      const newLanguage = posted.newLanguage?.[0]?.trim() ?? '';
      const changed = applyOp(designed.layout, op, { newLanguage, places: placesIn(posted) });
      return show(ctx, form, { ...designed, ...changed });
    }
    try {
      await save(ctx, form, designed);
      if (op !== 'save') kit.open(ctx, `${form.href}/${op}`);
      else kit.open(ctx, `${form.href}/edit`, 'formSaved');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await (isOvertaken(error)
        ? showMerged(ctx, form, designed)
        : show(ctx, form, { ...designed, failure: failureOfDesigner(error) }));
    }
  });

  /** @throws ApiFailure 412 if another person has saved since the page was opened. */
  async function save(ctx: Context, form: FoundForm, { layout, draft, etag, base }: Designed): Promise<void> {
    const { id } = form.entry;
    const stored = await readLayout(ctx, form);
    // Without a draft there is no ETag: the layout with which the page was opened is compared.
    const isStale = draft === '' && !isSameEdit(base, editedOf(stored.layout));
    if (isStale || draft !== stored.draft) throw overtaken();
    const query = { incomplete: true };
    const body = versionBody(layout, stored.version);
    if (draft === '') await kit.api(ctx).call('createVersion', { params: { id }, query, body });
    else {
      const params = { id, vid: draft };
      await kit.api(ctx).call('updateVersion', { params, query, body, ifMatch: etag });
    }
  }

  /** Another person has saved: shows both people's changes, and asks where they differ. Saves nothing. */
  async function showMerged(ctx: Context, form: FoundForm, designed: Designed): Promise<void> {
    const { layout, draft, etag } = await readLayout(ctx, form);
    const theirs = editedOf(layout);
    const sides = { base: designed.base, mine: editedOf(designed.layout), theirs };
    const { languages, values, ...told } = mergeEdits(sides, mergeRules);
    await show(ctx, form, {
      ...designed,
      ...told,
      layout: postedLayout({ ...values, languages }),
      draft,
      etag,
      base: theirs,
      isMerged: true,
    });
  }

  /** The draft's layout, else the active one, else an empty one in the instance's language. */
  async function readLayout(ctx: Context, { entry }: FoundForm) {
    const draft = await findVersion(ctx, kit, entry, 'DRAFT');
    const version = (draft ?? (await findVersion(ctx, kit, entry, 'ACTIVE')))?.version;
    const layout: LayoutValues = version ? layoutOf(version) : emptyLayout(await instanceLanguage(ctx));
    return { layout, version, draft: draft?.version.id ?? '', etag: draft?.etag ?? '' };
  }

  async function instanceLanguage(ctx: Context): Promise<string> {
    return (await kit.api(ctx).call('getSystemConfig')).body.language;
  }
}

/** The places to which rows are to be moved, from the fields `place:<row>`. */
function placesIn(posted: PostedForm): Record<number, number> {
  const typed = Object.entries(posted).flatMap(([name, [place = '']]) => {
    const row = /^place:(\d+)$/.exec(name)?.[1];
    return row && place !== '' ? [[row, Number(place)] as const] : [];
  });
  return Object.fromEntries(typed);
}

/** The designer as it was sent. */
function designedIn(posted: PostedForm): Designed {
  return {
    layout: postedLayout(posted),
    draft: posted.draft?.[0] ?? '',
    etag: posted.etag?.[0] ?? '',
    word: posted.word?.[0]?.trim() ?? '',
    base: baseOf(posted),
    conflicts: conflictsIn(posted),
    isChanged: true,
  };
}
