import type { Schemas } from '../../api/api-types.ts';
import { readEntryNames } from '../../models/read-model.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { choiceFilter, timesOfDays, withQuery } from '../../pages/filters.ts';
import { fieldReader } from '../../pages/form-page.ts';
import { sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { subjectCalled } from '../../people/find-people.ts';
import { transactionPath } from '../../people/find-transaction.ts';
import { formColumn, kindColumn } from '../../people/form-column.ts';
import { subjectPath } from '../../people/subject-path.ts';
import type { Room } from '../room.ts';
import { actRoutes } from './acts.ts';
import { readTransaction } from './read-transaction.ts';

/** A transaction without its token and links. */
type Listed = Schemas['ListedTransaction'];

const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;
const kinds = ['FORM', 'ON_BEHALF', 'WITHDRAWAL', 'IMPORT'] as const;

/** What people were asked: transactions by state, kind, person and time. */
export const transactions: Room = {
  name: 'transactions',
  path: '/transactions',
  reads: 'listTransactions',
  views: ['list', 'transaction'],
  routes(router, tools) {
    router.get('/', async (ctx) => {
      const reader = tools.reader(ctx);
      const filters = tools.filters(ctx, tools.path, [
        choiceFilter(reader, 'transactions.state', {
          name: 'states',
          group: 'transactionState',
          codes: states,
        }),
        choiceFilter(reader, 'transaction.kind', { name: 'kind', group: 'transactionKind', codes: kinds }),
        { name: 'after', kind: 'date', label: reader.t('transactions.after') },
        { name: 'before', kind: 'date', label: reader.t('transactions.before') },
        { name: 's', kind: 'hidden' },
      ]);
      const { s: sealed, ...values } = filters.values;
      const subject = tools.names.open(sealed);
      const query = { ...values, ...timesOfDays(values, tools.timeZone), subject };
      await sendList(ctx, tools, {
        view: 'list',
        title: subject ? reader.t('transactions.of', { subject }) : reader.t('transactions.title'),
        filters,
        columns: columnsOf(reader, tools, await readEntryNames(ctx, tools, 'layout')),
        read: (cursor, limit) => tools.api(ctx).list('listTransactions', { query, page: { cursor, limit } }),
        csv: 'transactions',
        locals: {
          search: tools.form(ctx, {
            action: tools.path,
            submit: reader.t('transactions.search'),
            fields: [{ name: 'subject', label: reader.t('transactions.subjectOrId'), isRequired: true }],
            values: { subject },
          }),
        },
      });
    });

    router.get('/:txid/scan', async (ctx) => {
      const params = { txid: String(ctx.params.txid) };
      const { stream, headers } = await tools.api(ctx).file('getDocument', { params });
      for (const name of ['Content-Type', 'Content-Disposition']) ctx.set(name, headers.get(name) ?? '');
      ctx.body = stream;
    });

    // The name of a person is sent as a form, so that it is in no URL.
    router.post('/', async (ctx) => {
      const text = fieldReader(ctx, tools)('subject');
      if (text === '') return tools.open(ctx, tools.path);
      const found = await transactionPath(ctx, tools, text);
      if (found) return tools.open(ctx, found);
      const name = await subjectCalled(ctx, tools, text);
      // Several people with one address are a list to choose from.
      const path = name === undefined ? '/console/subjects' : tools.path;
      tools.open(ctx, withQuery(path, { s: tools.names.seal(name ?? text) }));
    });

    router.get('/:txid', async (ctx) =>
      tools.page(ctx, 'transaction', await readTransaction(ctx, tools, String(ctx.params.txid))),
    );
    actRoutes(router, tools);
  },
};

function columnsOf(
  reader: ConsoleReader,
  tools: RoomTools,
  formName: (key: string) => string,
): Column<Listed>[] {
  const { time, code, text, state } = columnsFor<Listed>(reader);
  return [
    time('transactions.created', ({ created }) => created),
    code('transactions.id', ({ id }) => id, { href: ({ id }) => `${tools.path}/${id}` }),
    text('transactions.subject', ({ subject }) => subject, {
      href: ({ subject }) => subjectPath(tools, subject),
    }),
    formColumn(reader, formName),
    kindColumn(reader),
    state('transactions.state', 'transactionState', (each) => each.state),
  ];
}
