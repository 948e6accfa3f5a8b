import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import { choicesOf, withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { type Entry, hrefOf } from './read-form.ts';

/** The list of forms, and new ones. */
export function listRoutes(router: Router, kit: RoomKit): void {
  router.get('/', async (ctx) => {
    const reader = kit.reader(ctx);
    const filters = kit.filters(ctx, kit.path, [
      { name: 'keyword', kind: 'text', label: reader.t('forms.word') },
      {
        name: 'status',
        kind: 'choice',
        label: reader.t('forms.status'),
        options: choicesOf(reader, 'entryStatus', ['ACTIVE', 'INACTIVE']),
      },
      { name: 'language', kind: 'text', label: reader.t('forms.language') },
    ]);
    const { keyword, status, language } = filters.values;
    const read = async (cursor?: string) => {
      const query = { types: 'layout', keyword, statuses: status, languages: language, sort: 'name', cursor };
      const { body } = await kit.api(ctx).call('listModels', { query: query as object });
      return { rows: body.values, next: body.next };
    };
    const columns = columnsOf(reader, kit);
    if (ctx.query.format === 'csv') return sendCsv(ctx, 'forms', columns, read);
    const cursor = kit.cursor(ctx);
    const caption = reader.t('forms.title');
    await kit.page(ctx, 'list', {
      title: caption,
      path: kit.path,
      filters,
      newUrl: kit.may(ctx, 'createModel') && `${kit.path}/new`,
      table: tableView(reader, {
        caption,
        columns,
        path: kit.path,
        filters,
        cursor,
        ...(await read(cursor)),
      }),
    });
  });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, 'createModel')) throw new ApiFailure(403, {});
    const form = kit.form(ctx, {
      action: `${kit.path}/new`,
      submit: t('forms.create'),
      cancelUrl: kit.path,
      fields: [
        { name: 'name', label: t('forms.name'), hint: t('forms.nameHint'), isRequired: true, maxLength: 255 },
        { name: 'key', label: t('forms.key'), hint: t('forms.keyHint'), maxLength: 255, isCode: true },
        { name: 'description', label: t('forms.description'), kind: 'textarea', maxLength: 20_000 },
      ],
      values: failure && kit.posted(ctx),
      failure,
      once: kit.once.make(),
      hidden: { element: [(failure ? kit.posted(ctx) : ctx.query).element].flat()[0] ?? '' },
    });
    await kit.page(ctx, 'new', { title: t('forms.new'), form }, failure?.status);
  };
  router.get('/new', (ctx) => showNew(ctx));

  router.post('/new', async (ctx) => {
    const values = kit.posted(ctx);
    const [name = '', key = '', description = ''] = ['name', 'key', 'description'].map((each) =>
      values[each]?.[0]?.trim(),
    );
    try {
      const body = { type: 'layout', name, ...(key && { key }), ...(description && { description }) };
      const result = await kit.once.run(values.once?.[0], () => kit.api(ctx).call('createModel', { body }));
      if (result === 'repeated') return kit.open(ctx, kit.path, 'repeated');
      const add = values.element?.[0];
      const path = withQuery(`${hrefOf(kit, result.made.body.key)}/edit`, { add });
      kit.open(ctx, path, add ? 'formMadeWith' : 'formMade');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
  });
}

function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Entry>[] {
  const draftOf = ({ versions }: Entry) => versions.some(({ status }) => status === 'DRAFT');
  const languagesOf = ({ availableLanguages }: Entry) => availableLanguages.map(reader.languageName);
  return [
    {
      label: reader.t('forms.name'),
      cell: ({ name, key }) => ({ text: name, href: hrefOf(kit, key) }),
      csv: ({ name }) => name,
    },
    { label: reader.t('forms.key'), cell: ({ key }) => ({ code: key }), csv: ({ key }) => key },
    {
      label: reader.t('forms.status'),
      cell: (entry) => ({
        state: stateMark(reader, 'entryStatus', entry.status),
        ...(draftOf(entry) && { note: reader.t('forms.hasDraft') }),
      }),
      csv: ({ status }) => status,
    },
    {
      label: reader.t('forms.languages'),
      cell: (entry) => ({ text: languagesOf(entry).join(', ') || '–' }),
      csv: ({ availableLanguages }) => availableLanguages.join(' '),
    },
    {
      label: reader.t('forms.changed'),
      cell: ({ modificationDate }) => ({ time: reader.time(modificationDate) }),
      csv: ({ modificationDate }) => new Date(modificationDate).toISOString(),
    },
  ];
}
