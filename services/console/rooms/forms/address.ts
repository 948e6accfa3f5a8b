import type Router from '@koa/router';
import type { Context } from 'koa';
import { publicFormUrl } from '#lib/contracts/public-forms.ts';
import { ApiFailure, fieldFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import {
  type FoundForm,
  findForm,
  findVersion,
  hasVersion,
  readPublicForm,
} from '../../models/read-model.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor, type ReadField, wordChoices } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';

type PublicForm = Schemas['PublicForm'];

const identities = ['EMAIL', 'ANONYMOUS', 'SIGN_IN'] as const;
const files = { 'qr.svg': 'svg', 'qr.png': 'png' } as const;

/** The address of a form, at which people answer without an invitation: link, QR code and poster. */
export function addressRoutes(router: Router, tools: RoomTools): void {
  formPage(router, tools, {
    path: '/:key/address',
    view: 'address',
    placeFaults,
    async ask(ctx, reader) {
      const { t } = reader;
      const found = await findForm(ctx, tools);
      const { entry, href } = found;
      const now = await readPublicForm(ctx, tools, found.entry);
      const field = fieldsFor(reader, 'address');
      const identities = await offered(ctx, tools, now);
      return {
        title: t('address.title', { name: entry.name }),
        submit: t(now ? 'address.save' : 'address.on'),
        cancelUrl: href,
        fields: [
          field('identify', {
            kind: 'radios',
            isRequired: true,
            options: wordChoices(reader, 'address', identities),
            ...(!identities.includes('EMAIL') && { hint: t('address.noMail') }),
          }),
          field('until', { kind: 'date' }),
        ],
        values: { identify: now?.identify ?? '', until: now?.until ?? '' },
        locals: {
          meaning: [t('address.everybody'), t('address.unfinished'), ...(now ? [] : [t('address.isOff')])],
          isOn: now !== undefined,
          isLocal: isLocal(tools.baseUrl) && t('address.local'),
          // Its own draft would become active with the address.
          barred: barOf(ctx, tools, found) && t(`address.${barOf(ctx, tools, found)}`),
          url: publicFormUrl(tools.baseUrl, entry.key),
          image: `${href}/qr.svg`,
          files: [
            { href: `${href}/qr.svg`, word: t('address.svg') },
            { href: `${href}/qr.png`, word: t('address.png') },
            { href: `${href}/poster.pdf`, word: t('address.poster') },
          ],
          offUrl: `${href}/address/off`,
          formUrl: href,
          peopleUrl: withQuery('/console/subjects', { form: entry.key }),
          codeUrl: `/console/integration/code?${new URLSearchParams({ form: entry.key })}`,
        },
      };
    },
    async send(ctx, field) {
      const identify = identities.find((each) => each === field('identify'));
      if (!identify) throw fieldFailure('identify', 'required');
      return setPublic(ctx, tools, { identify, ...untilOf(field) });
    },
    done: (ctx) => tools.open(ctx, ctx.path, 'addressOn'),
  });

  formPage(router, tools, {
    path: '/:key/address/off',
    operation: 'setVersionStatus',
    words: 'address.off',
    isEnding: true,
    ask: async (ctx) => ({ name: (await findForm(ctx, tools)).entry.name }),
    send: (ctx) => setPublic(ctx, tools, undefined),
    done: 'addressOff',
  });

  for (const [name, format] of Object.entries(files))
    router.get(`/:key/${name}`, (ctx) =>
      sendFile(ctx, tools, { operation: 'getFormQrCode', query: { format } }),
    );
  router.get('/:key/poster.pdf', (ctx) => sendFile(ctx, tools, { operation: 'getFormPoster', query: {} }));
}

/** Whether only the machine itself can open an address: paper with it is of no use to others. */
export function isLocal(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(.+\.)?localhost$|^127\.|^\[::1\]$|^0\.0\.0\.0$/.test(hostname);
}

/** The address is the same in all languages: a fault of each is one fault of its field. */
function placeFaults(failure: ApiFailure): ApiFailure {
  const { status, errors } = failure;
  const ofAddress = errors.flatMap(({ pointer, ...fault }) => {
    const field = /^\/data\/[^/]+\/public\/(\w+)$/.exec(pointer)?.[1];
    return field ? [{ ...fault, pointer: `/${field}` }] : [];
  });
  return ofAddress.length > 0 ? new ApiFailure(status, { errors: ofAddress.slice(0, 1) }) : failure;
}

function untilOf(field: ReadField): Pick<PublicForm, 'until'> {
  const until = field('until');
  return until ? { until } : {};
}

/** Why the person cannot change the address now, as a message; undefined if nothing is against it. */
function barOf(
  ctx: Context,
  tools: RoomTools,
  { entry }: FoundForm,
): 'inactive' | 'draft' | 'role' | undefined {
  if (!hasVersion(entry, 'ACTIVE')) return 'inactive';
  if (hasVersion(entry, 'DRAFT')) return 'draft';
  return tools.may(ctx, 'createVersion') && tools.may(ctx, 'setVersionStatus') ? undefined : 'role';
}

/** Who may be asked to identify: codes need mail. */
async function offered(ctx: Context, tools: RoomTools, now: PublicForm | undefined) {
  const { features } = (await tools.api(ctx).call('getSystemConfig')).body;
  return identities.filter((each) => each !== 'EMAIL' || features.includes('mail') || now?.identify === each);
}

/** Activates the content of the ACTIVE version with another address. Nobody is asked again because of it. */
async function setPublic(ctx: Context, tools: RoomTools, address: PublicForm | undefined): Promise<void> {
  const found = await findForm(ctx, tools);
  const bar = barOf(ctx, tools, found);
  if (bar) throw new ApiFailure(409, { detail: tools.reader(ctx).t(`address.${bar}`) });
  const { id } = found.entry;
  const api = tools.api(ctx);
  const active = await findVersion(ctx, tools, found.entry, 'ACTIVE');
  if (!active) throw new ApiFailure(404, {});
  const { defaultLanguage, data } = active.version;
  const changed = Object.entries(data).map(([language, { public: _before, ...content }]) => {
    return [language, address ? { ...content, public: address } : content] as const;
  });
  const body = { defaultLanguage, data: Object.fromEntries(changed) };
  const draft = (await api.call('createVersion', { params: { id }, body })).body;
  const params = { id, vid: draft.id };
  try {
    await api.call('setVersionStatus', { params, body: { status: 'ACTIVE' } });
  } catch (error) {
    // Elements that it names may have been archived since.
    await api.call('deleteVersion', { params });
    throw error;
  }
}

/** Sends a file of the API to print or to show. */
async function sendFile(
  ctx: Context,
  tools: RoomTools,
  { operation, query }: { operation: 'getFormQrCode' | 'getFormPoster'; query: Record<string, string> },
): Promise<void> {
  const { entry } = await findForm(ctx, tools);
  const { stream, headers } = await tools.api(ctx).file(operation, { params: { id: entry.id }, query });
  ctx.body = stream;
  for (const name of ['Content-Type', 'Content-Disposition']) {
    const value = headers.get(name);
    if (value) ctx.set(name, value);
  }
}
