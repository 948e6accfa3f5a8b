import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { hrefOf } from './read-element.ts';

/** Imports an element or a form that was exported, here or on another instance, as a draft. */
export function importRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/import`;

  const show = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, 'importModel')) throw new ApiFailure(403, {});
    const form = kit.form(ctx, {
      action: path,
      submit: t('import.submit'),
      cancelUrl: kit.path,
      fields: [
        {
          name: 'export',
          label: t('import.export'),
          hint: t('import.hint'),
          kind: 'textarea',
          isRequired: true,
          isCode: true,
          fromFile: t('import.file'),
        },
        { name: 'key', label: t('import.key'), hint: t('import.keyHint'), maxLength: 255, isCode: true },
      ],
      values: failure ? kit.posted(ctx) : {},
      failure,
      once: kit.once.make(),
    });
    await kit.page(ctx, 'new', { title: t('import.title'), form }, failure?.status);
  };
  router.get('/import', (ctx) => show(ctx));

  router.post('/import', async (ctx) => {
    const { export: text = [''], key = [''], once } = kit.posted(ctx);
    try {
      const body = readExport(text[0] ?? '', key[0]?.trim() ?? '');
      const result = await kit.once.run(once?.[0], () => kit.api(ctx).call('importModel', { body }));
      if (result === 'repeated') return kit.open(ctx, kit.path, 'repeated');
      const made = result.made.body;
      const isForm = made.type === 'layout';
      const href = isForm ? `/console/forms/${encodeURIComponent(made.key)}` : hrefOf(kit, made.key);
      kit.open(ctx, href, 'imported');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await show(ctx, atExport(error));
    }
  });
}

/** @param key replaces that of the export, unless it is empty. @throws ApiFailure 422 unless it is JSON. */
function readExport(text: string, key: string): never {
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new Error('no object');
    return { ...read, ...(key && { key }) } as never;
  } catch {
    throw new ApiFailure(422, { errors: [{ pointer: '/export', code: 'not-json', detail: 'is not JSON' }] });
  }
}

/** Faults of the exported text are at its field, and say where in the text they are. */
function atExport(failure: ApiFailure): ApiFailure {
  const errors = failure.errors.map((fault) => {
    if (fault.pointer === '/key' || fault.pointer === '/export') return fault;
    return { pointer: '/export', code: 'import', detail: `${fault.pointer} ${fault.detail}` };
  });
  return errors.length === 0 ? failure : new ApiFailure(failure.status, { errors });
}
