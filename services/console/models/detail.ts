import type Router from '@koa/router';
import type { Context } from 'koa';
import { type Act, actLinks } from '../pages/acts.ts';
import { factsView, shortTable } from '../pages/columns.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { fieldsFor } from '../pages/form.ts';
import { formPage } from '../pages/form-page.ts';
import { stateMark } from '../pages/states.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, type FoundModel, hasVersion } from './read-model.ts';

/** The export of an entry, and the form with its name and description. */
export function modelRoutes<Type extends Entry['type']>(
  router: Router,
  tools: RoomTools,
  room: ModelRoom<Type>,
): void {
  const { words, one, find } = room;
  const isElement = one === 'element';

  router.get('/:key/export', async (ctx) => {
    const { entry } = await find(ctx, tools);
    const { body } = await tools.api(ctx).call('exportModel', { params: { id: entry.id } });
    ctx.attachment(`${entry.key}.json`);
    ctx.body = `${JSON.stringify(body, null, 2)}\n`;
  });

  formPage(router, tools, {
    path: '/:key/name',
    operation: 'updateModel',
    view: 'form',
    async ask(ctx, reader) {
      const { entry, etag = '' } = await find(ctx, tools);
      const { name, description, type, sharedWith } = entry;
      const field = fieldsFor(reader, words);
      const peers = isElement ? await readPeers(ctx, tools, sharedWith) : [];
      return {
        title: reader.t(`${words}.nameTitle`, { name }),
        submit: reader.t(`${words}.save`),
        fields: [
          field('name', { isRequired: true, maxLength: 255 }),
          field('description', { kind: 'textarea', maxLength: 20_000 }),
          ...(isElement ? [field('shared', { kind: 'check' })] : []),
          ...(peers.length > 0 ? [field('sharedWith', { kind: 'checks', options: peers })] : []),
          ...(type === 'information' ? [field('default', { kind: 'check' })] : []),
        ],
        values: {
          name,
          description,
          sharedWith,
          shared: entry.shared ? 'yes' : '',
          default: entry.default ? 'yes' : '',
        },
        hidden: { etag, ...(peers.length > 0 && { peers: 'shown' }) },
      };
    },
    async send(ctx, field) {
      const { entry } = await find(ctx, tools);
      const body = {
        name: field('name'),
        description: field('description'),
        ...(isElement && { shared: field('shared') === 'yes' }),
        ...(field('peers') && { sharedWith: [...(tools.posted(ctx).sharedWith ?? [])] }),
        ...(entry.type === 'information' && { default: field('default') === 'yes' }),
      };
      const ifMatch = field('etag') || undefined;
      await tools.api(ctx).call('updateModel', { params: { id: entry.id }, body, ifMatch });
    },
    done: `${one}Named`,
  });
}

/** The peers that an element may be shared with; a peer that was removed since stays chosen. */
async function readPeers(ctx: Context, tools: RoomTools, sharedWith: readonly string[]) {
  const { body } = await tools.api(ctx).call('listPeers', { query: { limit: 200 } });
  const named = body.map(({ id, name }) => [id, name] as const);
  const removed = sharedWith.filter((each) => !body.some(({ id }) => id === each));
  return [...named, ...removed.map((id) => [id, id] as const)];
}

/** The versions of an entry. @param hrefTo the page of a version. */
export function versionTable(
  reader: ConsoleReader,
  entry: Entry,
  { words, hrefTo }: Pick<ModelRoom<Entry['type']>, 'words'> & { hrefTo(vid: string): string },
) {
  return shortTable(reader, `${words}.versions`, {
    rows: entry.versions,
    columns: ({ text, state, time }) => [
      {
        label: reader.t(`${words}.version`),
        cell: ({ id, serial }) => ({
          ...(serial ? { code: serial } : { text: reader.t('changes.draft') }),
          href: hrefTo(id),
        }),
        csv: ({ serial }) => serial ?? 'DRAFT',
      },
      state(`${words}.status`, 'entryStatus', ({ status }) => status),
      text(`${words}.languages`, (version) => reader.languageNames(version.availableLanguages)),
      time(`${words}.changed`, ({ modificationDate }) => modificationDate),
    ],
  });
}

/** The facts of an entry. */
export function entryFacts(reader: ConsoleReader, entry: Entry, words: ModelRoom<Entry['type']>['words']) {
  const { t } = reader;
  const isElement = words === 'elements';
  const active = entry.versions.find(({ status }) => status === 'ACTIVE');
  return factsView(reader, {
    [`${words}.status`]: { state: stateMark(reader, 'entryStatus', entry.status) },
    [`${words}.type`]: isElement && { text: reader.word('elementType', entry.type) },
    [`${words}.key`]: { code: entry.key },
    [`${words}.version`]: active && { code: active.serial ?? '' },
    [`${words}.languages`]: { text: reader.languageNames(entry.availableLanguages) },
    [`${words}.isShared`]: isElement && { text: t(entry.shared ? 'elements.yes' : 'elements.no') },
    [`${words}.description`]: entry.description && { text: entry.description },
    [`${words}.created`]: { time: reader.time(entry.creationDate) },
    [`${words}.changed`]: { time: reader.time(entry.modificationDate) },
  });
}

/** What can be done with an entry beside its next steps: export, other names, ends. */
export function endsOf(ctx: Context, tools: RoomTools, { entry, href }: FoundModel, words: string) {
  const act = (name: string, rest: Omit<Act, 'href' | 'word'>) => ({
    href: `${href}/${name}`,
    word: `${words}.${name}`,
    ...rest,
  });
  return actLinks(ctx, tools, [
    { ...act('name', { operation: 'updateModel' }), word: `${words}.rename` },
    act('export', {}),
    {
      href: `/console/audit?target=model/${entry.id}`,
      word: 'models.log',
      operation: 'listModelsAudit',
    },
    act('discard', { operation: 'deleteVersion', when: hasVersion(entry, 'DRAFT') }),
    act('archive', { operation: 'setVersionStatus', when: hasVersion(entry, 'ACTIVE') }),
    act('delete', { operation: 'deleteModel' }),
  ]);
}
