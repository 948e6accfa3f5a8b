import type Router from '@koa/router';
import { ApiFailure } from '../../api/api-failure.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { hrefOf } from './read-element.ts';

/** Imports an element or a form that was exported, here or on another instance, as a draft. */
export function importRoutes(router: Router, kit: RoomKit): void {
  formPage(router, kit, {
    path: '/import',
    operation: 'importModel',
    view: 'form',
    isCreating: true,
    placeFaults: atExport,
    ask(_, reader) {
      const { t } = reader;
      const field = fieldsFor(reader, 'import');
      const text = { kind: 'textarea', isRequired: true, isCode: true } as const;
      return {
        title: t('import.title'),
        submit: t('import.submit'),
        cancelUrl: kit.path,
        fields: [
          field('export', { ...text, hint: t('import.hint'), fromFile: t('import.file') }),
          field('key', { maxLength: 255, isCode: true }),
        ],
      };
    },
    async send(ctx, field) {
      const body = readExport(field('export'), field('key'));
      return kit.api(ctx).call('importModel', { body });
    },
    done(ctx, { body: made }) {
      const isForm = made.type === 'layout';
      const href = isForm ? `/console/forms/${encodeURIComponent(made.key)}` : hrefOf(kit, made.key);
      kit.open(ctx, href, 'imported');
    },
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
