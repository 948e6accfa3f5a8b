import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { fieldsFor } from '../../pages/form.ts';
import { fieldReader, formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { contactFields, readFormLanguages } from '../../people/subject-path.ts';
import { formIn, placeOf } from './find-subjects.ts';

/** A new person; one with an address that is known already only after a warning. */
export function newRoute(router: Router, kit: RoomKit): void {
  formPage(router, kit, {
    path: '/new',
    operation: 'createSubject',
    view: 'new',
    isCreating: true,
    async ask(ctx, reader) {
      const known = ctx.method === 'POST' ? await findKnown(ctx, kit) : undefined;
      // What was searched for in vain.
      const word = typeof ctx.query.s === 'string' ? kit.names.open(ctx.query.s) : undefined;
      return {
        title: reader.t('subjects.new'),
        submit: reader.t(known ? 'subjects.createTwice' : 'subjects.create'),
        fields: [
          fieldsFor(reader, 'subjects')('name', { isRequired: true }),
          ...contactFields(reader, await readFormLanguages(ctx, kit)),
        ],
        values: { name: word, ...(word?.includes('@') && { emailAddress: word }) },
        hidden: { form: formOf(ctx, kit), known: known?.address ?? '' },
        locals: { known: known && { name: known.name, href: placeOf(kit, known.name, formOf(ctx, kit)) } },
      };
    },
    async send(ctx, field) {
      const known = await findKnown(ctx, kit);
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
      return kit.api(ctx).call('createSubject', { body });
    },
    done: (ctx, { body: { name } }) => kit.open(ctx, placeOf(kit, name, formOf(ctx, kit)), 'subjectMade'),
  });
}

/** A person who has the address that was typed. */
async function findKnown(ctx: Context, kit: RoomKit) {
  const address = fieldReader(ctx, kit)('emailAddress');
  if (!address) return undefined;
  const query = { contact: address };
  const [one] = (await kit.api(ctx).list('listSubjects', { query, page: { limit: 1 } })).rows;
  return one && { name: one.name, address };
}

/** The key of the form that is to be sent to the new person; empty for none. */
function formOf(ctx: Context, kit: RoomKit): string {
  return (ctx.method === 'POST' ? fieldReader(ctx, kit)('form') : formIn(ctx)) ?? '';
}
