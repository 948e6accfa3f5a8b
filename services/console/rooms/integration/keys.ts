import type Router from '@koa/router';
import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import { entryChoices, listEntries, questionNames, questionTypes } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { endOfDay } from '../../pages/filters.ts';
import { fieldsFor, wordChoices } from '../../pages/form.ts';
import { type AskedForm, actPage } from '../../pages/form-page.ts';
import { rowOfPath, sendPlainList } from '../../pages/list-page.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** The page that makes a key for another organisation. */
export const partnerKeyPath = '/console/integration/security/new?scope=PEER';

/** API keys: list, generate, revoke. */
export function keyRoutes(router: Router, tools: RoomTools): void {
  const path = `${tools.path}/security`;

  router.get('/security', async (ctx) => {
    const mayRevoke = tools.may(ctx, 'revokeKey');
    const names = await questionNames(ctx, tools);
    await sendPlainList(ctx, tools, {
      path: '/security',
      operation: 'listKeys',
      words: 'keys',
      columns: ({ text, word, time, link }, reader) => [
        text('keys.name', ({ name }) => name, { note: ({ hint }) => `${hint}…` }),
        word('keys.scope', 'keys.scopeName', ({ scope }) => scope, {
          note: (key) => key.elements && reader.list(key.elements.map((each) => names.get(each) ?? each)),
        }),
        time('keys.created', ({ creationDate }) => creationDate),
        text('keys.creator', ({ creator }) => creator),
        time('keys.expires', ({ expirationDate }) => expirationDate, reader.t('keys.forever')),
        time('keys.used', ({ lastAccessDate }) => lastAccessDate, reader.t('keys.never')),
        ...(mayRevoke ? [link('keys.act', 'keys.revoke', ({ id }) => `${path}/${id}/revoke`)] : []),
      ],
      creates: (await mayCreateOwn(ctx, tools)) ? 'createKey' : undefined,
      links: [{ href: partnerKeyPath, word: 'peers.makeKey', operation: 'createKey' }],
    });
  });

  actPage(router, tools, {
    path: '/security/new',
    operation: 'createKey',
    view: 'form',
    isCreating: true,
    ask: async (ctx, reader) =>
      isForPartner(ctx, tools) || !(await mayCreateOwn(ctx, tools))
        ? askForPartner(reader)
        : askForOwn(ctx, tools),
    body(field, { elements = [] }) {
      const until = field('expirationDate');
      return {
        name: field('name'),
        scope: field('scope'),
        ...(elements.length > 0 && { elements: [...elements] }),
        ...(until && { expirationDate: endOfDay(until, tools.timeZone) }),
      };
    },
    done(ctx, { body: made }) {
      const { t, time } = tools.reader(ctx);
      const expires = made.expirationDate === undefined ? '' : time(made.expirationDate).text;
      const line = { label: t('keys.line'), value: exampleLine(tools.baseUrl, made) };
      return tools.secret(ctx, {
        title: t('keys.made'),
        text: t(`keys.madeText.${made.scope}`, { expires }),
        label: t('keys.key'),
        value: made.key,
        more: made.scope === 'PEER' ? [] : [line],
        next:
          made.scope === 'PEER'
            ? { href: `${tools.path}/peers`, word: t('keys.toPeers') }
            : { href: path, word: t('keys.back') },
      });
    },
  });

  actPage(router, tools, {
    path: '/security/:id/revoke',
    operation: 'revokeKey',
    words: 'keys.revoke',
    isEnding: true,
    async ask(ctx, { t, dateTime }) {
      const { name, lastAccessDate: used } = await rowOfPath(ctx, (page) =>
        tools.api(ctx).list('listKeys', { page }),
      );
      const lastUse = used
        ? t('keys.lastUsed', { time: dateTime(new Date(used).toISOString()) })
        : t('keys.neverUsed');
      return { name, effects: [lastUse], cancelUrl: path };
    },
    done: (ctx) => tools.open(ctx, path, 'keyRevoked'),
  });
}

/** Whether the person may create a key for a system of the organisation itself. */
async function mayCreateOwn(ctx: Context, tools: RoomTools): Promise<boolean> {
  const { body: me } = await tools.api(ctx).call('getUser');
  return me.keyScopes?.includes('OWNER') ?? false;
}

/** Whether the page makes a key for another organisation: its scope is not a choice. */
function isForPartner(ctx: Context, tools: RoomTools): boolean {
  const { scope = [ctx.query.scope].flat() } = ctx.method === 'POST' ? tools.posted(ctx) : {};
  return scope[0] === 'PEER';
}

function askForPartner(reader: ConsoleReader): AskedForm {
  const { t } = reader;
  return {
    title: t('keys.newPartner'),
    submit: t('keys.generate'),
    locals: { text: t('keys.newPartnerText') },
    fields: [fieldsFor(reader, 'keys')('name', { word: 'partner', isRequired: true, maxLength: 255 })],
    hidden: { scope: 'PEER' },
  };
}

/** A key for a system of the organisation itself. */
async function askForOwn(ctx: Context, tools: RoomTools): Promise<AskedForm> {
  const reader = tools.reader(ctx);
  const elements = await listEntries(tools.api(ctx), { types: questionTypes, statuses: 'ACTIVE' });
  const field = fieldsFor(reader, 'keys');
  const scopes = wordChoices(reader, 'keys.scopeText', ['OWNER', 'DECISION']);
  return {
    title: reader.t('keys.new'),
    submit: reader.t('keys.generate'),
    fields: [
      field('name', { isRequired: true, maxLength: 255 }),
      field('scope', { kind: 'radios', isRequired: true, options: scopes }),
      field('expirationDate', { kind: 'date' }),
      ...(elements.length > 0
        ? [field('elements', { kind: 'checks', options: entryChoices(elements) })]
        : []),
    ],
    values: { scope: 'OWNER' },
  };
}

/** A first call with the key. */
function exampleLine(
  baseUrl: string,
  { scope, elements: [element] = ['processing.001'] }: Schemas['CreatedKey'],
): string {
  if (scope !== 'DECISION') return `curl -s ${baseUrl}/user -H "CM_KEY: $ACCORD_KEY"`;
  const body = JSON.stringify({ subject: 'jane.doe@example.org', questions: [{ element }] });
  return `curl -s ${baseUrl}/decisions -H "CM_KEY: $ACCORD_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
