import type Router from '@koa/router';
import { columnsFor } from '../pages/columns.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { choiceFilter, type FilterSpec, languageFilter } from '../pages/filters.ts';
import type { RoomKit } from '../pages/kit.ts';
import { sendList } from '../pages/list-page.ts';
import type { Column } from '../pages/table.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, hasVersion, hrefOf, listEntries } from './read-model.ts';

type Listed = Pick<ModelRoom<Entry['type']>, 'words' | 'types'>;

/** The list of the entries of a room. */
export function modelListRoute(router: Router, kit: RoomKit, room: Listed): void {
  router.get('/', async (ctx) => {
    const reader = kit.reader(ctx);
    const entries = await listEntries(kit.api(ctx), { types: room.types });
    const languages = entries.flatMap(({ availableLanguages }) => availableLanguages);
    const filters = kit.filters(ctx, kit.path, filtersOf(reader, room, languages));
    const { keyword, type = room.types.join(','), status, language, shared } = filters.values;
    const state = status === 'DRAFT' ? { draft: true } : { statuses: status };
    const query = { types: type, keyword, ...state, languages: language, shared, sort: 'name' };
    await sendList(ctx, kit, {
      view: 'list',
      title: reader.t(`${room.words}.title`),
      filters,
      columns: columnsOf(reader, kit, room),
      read: (cursor, size) => kit.api(ctx).list('listModels', { query: { ...query, cursor, size } }),
      csv: room.words,
      locals: {
        newUrl: kit.may(ctx, 'createModel') && `${kit.path}/new`,
        importUrl: kit.may(ctx, 'importModel') && `${kit.path}/import`,
      },
    });
  });
}

/** @param languages that are in use. */
function filtersOf(
  reader: ConsoleReader,
  { words, types }: Listed,
  languages: readonly string[],
): FilterSpec[] {
  const choice = (name: string, group: string, codes: readonly string[]) =>
    choiceFilter(reader, `${words}.${name}`, { name, group, codes });
  return [
    { name: 'keyword', kind: 'text', label: reader.t(`${words}.word`) },
    ...(types.length > 1 ? [choice('type', 'elementType', types)] : []),
    choice('status', 'entryStatus', ['ACTIVE', 'INACTIVE', 'DRAFT']),
    languageFilter(reader, `${words}.inLanguage`, languages),
    ...(types.length > 1
      ? [
          choiceFilter(reader, 'elements.isShared', {
            name: 'shared',
            group: 'sharing',
            codes: ['true', 'false'],
          }),
        ]
      : []),
  ];
}

function columnsOf(reader: ConsoleReader, kit: RoomKit, { words, types }: Listed): Column<Entry>[] {
  const { text, word, code, state, time } = columnsFor<Entry>(reader);
  return [
    text(`${words}.name`, ({ name }) => name, { href: ({ key }) => hrefOf(kit, key) }),
    ...(types.length > 1 ? [word(`${words}.type`, 'elementType', ({ type }) => type)] : []),
    code(`${words}.key`, ({ key }) => key),
    state(`${words}.status`, 'entryStatus', ({ status }) => status, {
      note: (entry) => (hasVersion(entry, 'DRAFT') ? reader.t(`${words}.hasDraft`) : undefined),
    }),
    {
      label: reader.t(`${words}.languages`),
      cell: ({ availableLanguages }) => ({ text: reader.languageNames(availableLanguages) }),
      csv: ({ availableLanguages }) => availableLanguages.join(' '),
    },
    time(`${words}.changed`, ({ modificationDate }) => modificationDate),
  ];
}
