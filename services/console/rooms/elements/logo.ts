import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { readContent } from '../../models/editor.ts';
import { type FoundElement, findElement } from '../../models/read-model.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { atLogo, logoFault, logoTypes } from '../../pages/logo-file.ts';

/** The logo of a theme, on a page of its own: an upload is not kept during a sign-in, as typed texts are. */
export function logoRoutes(router: Router, kit: RoomKit): void {
  formPage(router, kit, {
    path: '/:key/logo',
    operation: 'uploadLogo',
    view: 'logo',
    placeFaults: atLogo,
    async ask(ctx, reader) {
      const { entry, href } = await findTheme(ctx, kit);
      const { content } = await readContent(ctx, kit, entry);
      const logo = content.data[content.defaultLanguage]?.logoPath;
      const field = fieldsFor(reader, 'logo');
      return {
        title: reader.t('logo.title', { name: entry.name }),
        submit: reader.t('logo.save'),
        cancelUrl: `${href}/edit`,
        fields: [
          field('logo', { word: 'file', kind: 'file', accept: logoTypes, isNeeded: true }),
          ...(logo ? [field('remove', { kind: 'check' })] : []),
        ],
        locals: { logo },
      };
    },
    async send(ctx, field) {
      const { entry, href } = await findTheme(ctx, kit);
      const file = kit.file(ctx, 'logo');
      if (!file && field('remove') !== 'yes') throw logoFault(422, 'required');
      const params = { id: entry.id };
      const uploaded = file && (await kit.api(ctx).call('uploadLogo', { params, file }));
      await storeLogo(ctx, kit, entry, uploaded?.body.logoPath);
      return `${href}/edit`;
    },
    done: (ctx, next) => kit.open(ctx, next, 'elementSaved'),
  });
}

/** @throws ApiFailure 404 for every other element. */
async function findTheme(ctx: Context, kit: RoomKit): Promise<FoundElement> {
  const found = await findElement(ctx, kit);
  if (found.entry.type !== 'theme') throw new ApiFailure(404, {});
  return found;
}

/** Puts the logo into all languages of the draft, which is made if there is none. */
async function storeLogo(
  ctx: Context,
  kit: RoomKit,
  entry: FoundElement['entry'],
  logoPath: string | undefined,
): Promise<void> {
  const { content, draft, etag } = await readContent(ctx, kit, entry);
  const data = Object.fromEntries(
    Object.entries(content.data).map(([language, { logoPath: _former, ...members }]) => [
      language,
      logoPath ? { ...members, logoPath } : members,
    ]),
  );
  const body = { ...content, data };
  const query = { incomplete: true };
  const { id } = entry;
  const api = kit.api(ctx);
  if (draft) await api.call('updateVersion', { params: { id, vid: draft }, query, body, ifMatch: etag });
  else await api.call('createVersion', { params: { id }, query, body });
}
