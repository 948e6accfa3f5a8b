import type Router from '@koa/router';
import { columnsFor } from '../pages/columns.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { choiceFilter, type FilterSpec, languageFilter } from '../pages/filters.ts';
import { sendList } from '../pages/list-page.ts';
import type { Column } from '../pages/table.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, hasVersion, hrefOf, listEntries } from './read-model.ts';

type Listed = Pick<ModelRoom<Entry['type']>, 'words' | 'types'>;

/** The list of the entries of a room. */
export function modelListRoute(router: Router, tools: RoomTools, room: Listed): void {
  router.get('/', async (ctx) => {
    const reader = tools.reader(ctx);
    const entries = await listEntries(tools.api(ctx), { types: room.types });
    const languages = entries.flatMap(({ availableLanguages }) => availableLanguages);
    const filters = tools.filters(ctx, tools.path, filtersOf(reader, room, languages));
    const { keyword, type = room.types.join(','), status, language, shared } = filters.values;
    const state = status === 'DRAFT' ? { draft: true } : { statuses: status };
    const query = { types: type, keyword, ...state, languages: language, shared, sort: 'name' };
    await sendList(ctx, tools, {
      view: 'list',
      title: reader.t(`${room.words}.title`),
      filters,
      columns: columnsOf(reader, tools, room),
      read: (cursor, size) => tools.api(ctx).list('listModels', { query: { ...query, cursor, size } }),
      csv: room.words,
      locals: {
        newUrl: tools.may(ctx, 'createModel') && `${tools.path}/new`,
        importUrl: tools.may(ctx, 'importModel') && `${tools.path}/import`,
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

function columnsOf(reader: ConsoleReader, tools: RoomTools, { words, types }: Listed): Column<Entry>[] {
  const { text, word, code, state, time } = columnsFor<Entry>(reader);
  return [
    text(`${words}.name`, ({ name }) => name, { href: ({ key }) => hrefOf(tools, key) }),
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
