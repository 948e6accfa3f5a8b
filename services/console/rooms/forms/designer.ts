import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { compareLayouts } from './compare-layouts.ts';
import { applyOp } from './designer-ops.ts';
import { type Designed, designerView } from './designer-view.ts';
import { failureOfDesigner } from './layout-faults.ts';
import { emptyLayout, type LayoutValues, layoutOf, postedLayout, versionBody } from './layout-values.ts';
import { type FoundForm, type FoundVersion, findForm, findVersion } from './read-form.ts';

/** The designer: which elements a form asks, in which order, with which options. It saves a draft. */
export function designerRoutes(router: Router, kit: RoomKit): void {
  const show = async (ctx: Context, form: FoundForm, designed: Designed) => {
    const status = designed.failure?.status ?? 200;
    await kit.page(ctx, 'designer', await designerView(ctx, kit, form, designed), status);
  };

  router.get('/:key/edit', async (ctx) => {
    if (!kit.may(ctx, 'createVersion')) throw new ApiFailure(403, {});
    const form = await findForm(ctx, kit);
    const kept = kit.kept(ctx);
    if (kept) return show(ctx, form, { ...openedWith(kept), layout: postedLayout(kept), isChanged: true });
    const draft = await findVersion(ctx, kit, form.entry, 'DRAFT');
    const start = draft ?? (await findVersion(ctx, kit, form.entry, 'ACTIVE'));
    const layout = start ? layoutOf(start.version) : emptyLayout(await instanceLanguage(ctx, kit));
    // A form that was begun from the page of an element asks this element.
    const added = [ctx.query.add].flat()[0];
    const isAdded = added !== undefined && !start;
    await show(ctx, form, {
      layout: isAdded ? { ...layout, elements: [added] } : layout,
      isChanged: isAdded,
      draft: draft?.version.id ?? '',
      etag: draft?.etag ?? '',
      word: '',
    });
  });

  router.post('/:key/edit', async (ctx) => {
    const posted = kit.posted(ctx);
    const layout = postedLayout(posted);
    const opened = openedWith(posted);
    const form = await findForm(ctx, kit);
    const op = posted.op?.[0] ?? 'save';
    if (!['save', 'preview', 'activate'].includes(op)) {
      const newLanguage = posted.newLanguage?.[0]?.trim() ?? '';
      const changed = applyOp(layout, op, { newLanguage, places: placesIn(posted) });
      return show(ctx, form, { ...opened, ...changed, isChanged: true });
    }
    const stored = await findVersion(ctx, kit, form.entry, 'DRAFT');
    try {
      await save(ctx, form, { layout, opened, stored });
      if (op !== 'save') kit.open(ctx, `${form.href}/${op}`);
      else kit.open(ctx, `${form.href}/edit`, 'formSaved');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const failure = failureOfDesigner(error);
      if (error.status !== 412) return show(ctx, form, { ...opened, layout, failure, isChanged: true });
      await showTheirs(ctx, form, { ...opened, layout, failure, isChanged: true });
    }
  });

  /** @throws ApiFailure 412 if the draft is not as the page was opened with. */
  async function save(
    ctx: Context,
    { entry: { id } }: FoundForm,
    given: { layout: LayoutValues; opened: Pick<Designed, 'draft' | 'etag'>; stored?: FoundVersion },
  ): Promise<void> {
    const { layout, opened, stored } = given;
    const query = { incomplete: true };
    if (opened.draft !== (stored?.version.id ?? ''))
      throw new ApiFailure(412, { type: '/docs/problems/precondition-failed' });
    const body = versionBody(layout, stored?.version);
    if (!stored) await kit.api(ctx).call('createVersion', { params: { id }, query, body });
    else {
      const params = { id, vid: stored.version.id };
      await kit.api(ctx).call('updateVersion', { params, query, body, ifMatch: opened.etag });
    }
  }

  /** Another person has saved: says what differs. To save again is then to replace it. */
  async function showTheirs(ctx: Context, form: FoundForm, designed: Designed): Promise<void> {
    const draft = await findVersion(ctx, kit, form.entry, 'DRAFT');
    const theirs = draft && compareLayouts(kit.reader(ctx), layoutOf(draft.version), designed.layout);
    await show(ctx, form, {
      ...designed,
      draft: draft?.version.id ?? '',
      etag: draft?.etag ?? '',
      theirs: theirs?.map(({ label, before, after }) => ({ label, theirs: before, yours: after })),
    });
  }

  async function instanceLanguage(ctx: Context, kit: RoomKit): Promise<string> {
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

/** With what the page was opened, from its hidden fields. */
function openedWith(posted: PostedForm): Pick<Designed, 'draft' | 'etag' | 'word'> {
  return {
    draft: posted.draft?.[0] ?? '',
    etag: posted.etag?.[0] ?? '',
    word: posted.word?.[0]?.trim() ?? '',
  };
}
