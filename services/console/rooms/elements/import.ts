import type Router from '@koa/router';
import { parseJson } from '#lib/http/request-body.ts';
import { ApiFailure, fieldFailure } from '../../api/api-failure.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** Imports an element or a form that was exported, here or on another instance, as a draft. */
export function importRoutes(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/import',
    operation: 'importModel',
    view: 'form',
    words: 'import',
    isCreating: true,
    placeFaults: atExport,
    ask(_, reader) {
      const field = fieldsFor(reader, 'import');
      return {
        fields: [
          field('export', { kind: 'textarea', isCode: true, isNeeded: true }),
          field('file', { kind: 'file', accept: '.json,application/json', into: 'export', isNeeded: true }),
          field('key', { maxLength: 255, isCode: true }),
        ],
      };
    },
    async send(ctx, field) {
      const text = field('export') || (await tools.file(ctx, 'file')?.text()) || '';
      return tools.api(ctx).call('importModel', { body: readExport(text, field('key')) });
    },
    done(ctx, { body: { type, key } }) {
      const room = type === 'layout' ? '/console/forms' : tools.path;
      tools.open(ctx, `${room}/${encodeURIComponent(key)}`, 'imported');
    },
  });
}

/** @param key replaces that of the export, unless it is empty. @throws ApiFailure 422 unless it is JSON. */
function readExport(text: string, key: string): never {
  if (text === '') throw fieldFailure('export', 'required');
  try {
    const read = parseJson(Buffer.from(text));
    if (typeof read !== 'object' || read === null || Array.isArray(read)) throw new Error('no object');
    // biome-ignore lint/plugin: the API checks it.
    return { ...read, ...(key && { key }) } as never;
  } catch {
    throw fieldFailure('export', 'not-json');
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
