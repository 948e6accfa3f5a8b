import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { readContent } from '../../models/editor.ts';
import { type FoundElement, findElement } from '../../models/read-model.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import { atLogo, logoFault, logoTypes } from '../../pages/logo-file.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** The logo of a theme, on a page of its own: an upload is not kept during a sign-in, as typed texts are. */
export function logoRoutes(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/:key/logo',
    operation: 'uploadLogo',
    view: 'logo',
    placeFaults: atLogo,
    async ask(ctx, reader) {
      const { entry, href } = await findTheme(ctx, tools);
      const { content } = await readContent(ctx, tools, entry);
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
      const { entry, href } = await findTheme(ctx, tools);
      const file = tools.file(ctx, 'logo');
      if (!file && field('remove') !== 'yes') throw logoFault(422, 'required');
      const params = { id: entry.id };
      const uploaded = file && (await tools.api(ctx).call('uploadLogo', { params, file }));
      await storeLogo(ctx, tools, entry, uploaded?.body.logoPath);
      return `${href}/edit`;
    },
    done: (ctx, next) => tools.open(ctx, next, 'elementSaved'),
  });
}

/** @throws ApiFailure 404 for every other element. */
async function findTheme(ctx: Context, tools: RoomTools): Promise<FoundElement> {
  const found = await findElement(ctx, tools);
  if (found.entry.type !== 'theme') throw new ApiFailure(404, {});
  return found;
}

/** Puts the logo into all languages of the draft, which is made if there is none. */
async function storeLogo(
  ctx: Context,
  tools: RoomTools,
  entry: FoundElement['entry'],
  logoPath: string | undefined,
): Promise<void> {
  const { content, draft, etag } = await readContent(ctx, tools, entry);
  const data = Object.fromEntries(
    Object.entries(content.data).map(([language, { logoPath: _former, ...members }]) => [
      language,
      logoPath ? { ...members, logoPath } : members,
    ]),
  );
  const body = { ...content, data };
  const query = { incomplete: true };
  const { id } = entry;
  const api = tools.api(ctx);
  if (draft) await api.call('updateVersion', { params: { id, vid: draft }, query, body, ifMatch: etag });
  else await api.call('createVersion', { params: { id }, query, body });
}
