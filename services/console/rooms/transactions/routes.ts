import { sendCsv } from '../../pages/csv-export.ts';
import { choicesOf, timesOfDays } from '../../pages/filters.ts';
import { tableView } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { actRoutes } from './acts.ts';
import { columnsOf, states } from './columns.ts';
import { readTransaction } from './read-transaction.ts';
import { transactionPath } from './transaction-path.ts';

/** What people were asked: transactions by state, person and time. */
export const transactions: Room = {
  name: 'transactions',
  path: '/transactions',
  roles: ['operator'],
  views: ['list', 'transaction'],
  routes(router, kit) {
    router.get('/', async (ctx) => {
      const reader = kit.reader(ctx);
      const filters = kit.filters(ctx, kit.path, [
        {
          name: 'states',
          kind: 'choice',
          label: reader.t('transactions.state'),
          options: choicesOf(reader, 'transactionState', states),
        },
        { name: 'after', kind: 'date', label: reader.t('transactions.after') },
        { name: 'before', kind: 'date', label: reader.t('transactions.before') },
        { name: 's', kind: 'hidden' },
      ]);
      const { s: sealed, ...values } = filters.values;
      const subject = kit.names.open(sealed);
      const read = async (cursor?: string) => {
        const times = timesOfDays(values, kit.timeZone);
        const query = { ...values, ...times, subject, cursor } as object;
        const { body } = await kit.api(ctx).call('listTransactions', { query });
        return { rows: body.values, next: body.next };
      };
      const columns = columnsOf(reader, kit);
      if (ctx.query.format === 'csv') return sendCsv(ctx, 'transactions', columns, read);
      const cursor = kit.cursor(ctx);
      const caption = subject ? reader.t('transactions.of', { subject }) : reader.t('transactions.title');
      const { path } = kit;
      await kit.page(ctx, 'list', {
        title: caption,
        path,
        filters,
        table: tableView(reader, { caption, columns, path, filters, cursor, ...(await read(cursor)) }),
        search: kit.form(ctx, {
          action: path,
          submit: reader.t('transactions.search'),
          fields: [{ name: 'subject', label: reader.t('transactions.subjectOrId'), isRequired: true }],
          values: { subject },
        }),
      });
    });

    // The name of a person is sent as a form, so that it is in no URL.
    router.post('/', async (ctx) => {
      const text = kit.posted(ctx).subject?.[0]?.trim() ?? '';
      if (text === '') return kit.open(ctx, kit.path);
      const found = await transactionPath(ctx, kit, text);
      kit.open(ctx, found ?? `${kit.path}?s=${kit.names.seal(text)}`);
    });

    router.get('/:id', async (ctx) => {
      const id = String(ctx.params.id);
      await kit.page(ctx, 'transaction', await readTransaction(ctx, kit, id));
    });
    actRoutes(router, kit);
  },
};
