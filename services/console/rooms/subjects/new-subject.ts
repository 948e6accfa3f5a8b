import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { fieldsFor } from '../../pages/form.ts';
import { fieldReader, formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { contactFields, readFormLanguages } from '../../people/subject-path.ts';
import { formIn, placeOf } from './find-subjects.ts';

/** A new person; one with an address that is known already only after a warning. */
export function newRoute(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/new',
    operation: 'createSubject',
    view: 'new',
    isCreating: true,
    async ask(ctx, reader) {
      const known = ctx.method === 'POST' ? await findKnown(ctx, tools) : undefined;
      // What was searched for in vain.
      const word = typeof ctx.query.s === 'string' ? tools.names.open(ctx.query.s) : undefined;
      return {
        title: reader.t('subjects.new'),
        submit: reader.t(known ? 'subjects.createTwice' : 'subjects.create'),
        fields: [
          fieldsFor(reader, 'subjects')('name', { isRequired: true }),
          ...contactFields(reader, await readFormLanguages(ctx, tools)),
        ],
        values: { name: word, ...(word?.includes('@') && { emailAddress: word }) },
        hidden: { form: formOf(ctx, tools), known: known?.address ?? '' },
        locals: {
          known: known && { name: known.name, href: placeOf(tools, known.name, formOf(ctx, tools)) },
        },
      };
    },
    async send(ctx, field) {
      const known = await findKnown(ctx, tools);
      if (known && known.address !== field('known')) {
        const errors = [{ pointer: '/emailAddress', code: 'known-address', detail: '' }];
        throw new ApiFailure(409, { errors });
      }
      const [emailAddress, defaultLanguage] = [field('emailAddress'), field('defaultLanguage')];
      const body = {
        name: field('name'),
        ...(emailAddress && { emailAddress }),
        ...(defaultLanguage && { defaultLanguage }),
      };
      return tools.api(ctx).call('createSubject', { body });
    },
    done: (ctx, { body: { name } }) =>
      tools.open(ctx, placeOf(tools, name, formOf(ctx, tools)), 'subjectMade'),
  });
}

/** A person who has the address that was typed. */
async function findKnown(ctx: Context, tools: RoomTools) {
  const address = fieldReader(ctx, tools)('emailAddress');
  if (!address) return undefined;
  const query = { contact: address };
  const [one] = (await tools.api(ctx).list('listSubjects', { query, page: { limit: 1 } })).rows;
  return one && { name: one.name, address };
}

/** The key of the form that is to be sent to the new person; empty for none. */
function formOf(ctx: Context, tools: RoomTools): string {
  return (ctx.method === 'POST' ? fieldReader(ctx, tools)('form') : formIn(ctx)) ?? '';
}
