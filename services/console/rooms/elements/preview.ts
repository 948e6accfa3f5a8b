import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { type FoundElement, findElement } from '../../models/read-model.ts';
import { sendFrame, setFramePolicy } from '../../pages/frame.ts';
import { boundEdit } from '../../pages/merge-form.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { contentFields } from './content-fields.ts';
import { mergeContent } from './content-values.ts';
import { fieldsOf } from './editor-fields.ts';

/** Whether a preview shows several questions: that of a theme has samples. */
export function hasOrientation(type: string): boolean {
  return type === 'theme';
}

/** Documents for the frames that show an element as people see it. */
export function previewRoutes(router: Router, tools: RoomTools): void {
  router.get('/:key/versions/:vid/page', async (ctx) => {
    const { entry } = await findElement(ctx, tools);
    const [language = '', orientation] = [ctx.query.language, ctx.query.orientation].map(
      (each) => [each].flat()[0],
    );
    const params = { id: entry.id, vid: String(ctx.params.vid) };
    const html = await tools.api(ctx).page('previewVersion', { params, body: { language, orientation } });
    sendFrame(ctx, { type: entry.type, html });
  });

  // What stands in the editor, in one language. Nothing is saved.
  router.post('/:key/edit/preview', async (ctx) => {
    const { entry } = await findElement(ctx, tools);
    const { draft = [''], preview = [''], orientation = [], languages = [], ...values } = tools.posted(ctx);
    boundEdit({ languages, values });
    const [language = ''] = preview;
    const before = { defaultLanguage: language, data: {} };
    const { data } = mergeContent(before, contentFields[entry.type], [language, ...languages], values);
    const vid = draft[0] || entry.versions[0]?.id;
    if (!vid) throw new ApiFailure(404, {});
    try {
      const body = { language, orientation: orientation[0], data: data[language] };
      const html = await tools.api(ctx).page('previewVersion', { params: { id: entry.id, vid }, body });
      sendFrame(ctx, { type: entry.type, html });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await sendFaults(ctx, entry, { language, failure: error });
    }
  });

  /** Says in the frame why the element cannot be shown, for example that a link is none. */
  async function sendFaults(
    ctx: Context,
    { type }: FoundElement['entry'],
    { language, failure }: { language: string; failure: ApiFailure },
  ): Promise<void> {
    const reader = tools.reader(ctx);
    const errors = failure.errors.map((fault) => ({
      ...fault,
      pointer: fault.pointer.replace(/^\/data\//, `/data/${language}/`),
    }));
    const form = tools.form(ctx, {
      action: '',
      submit: '',
      fields: fieldsOf(reader, type, { languages: [language], values: {} }),
      failure: new ApiFailure(failure.status, { detail: failure.detail, errors }),
    });
    await tools.page(ctx, 'unshown', { title: reader.t('elements.preview'), form }, failure.status);
    setFramePolicy(ctx, type);
  }
}
