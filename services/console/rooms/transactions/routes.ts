import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import { choicesOf, timesOfDays } from '../../pages/filters.ts';
import { tableView } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { actRoutes } from './acts.ts';
import { columnsOf, type Listed, states } from './columns.ts';
import { readTransaction } from './read-transaction.ts';

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
      ]);
      const read = async (cursor?: string) => {
        const query = { ...filters.values, ...timesOfDays(filters.values, kit.timeZone), cursor } as object;
        const { body } = await kit.api(ctx).call('listTransactions', { query });
        return { rows: body.values, next: body.next };
      };
      const columns = columnsOf(reader, kit.path);
      if (ctx.query.format === 'csv') return sendCsv(ctx, 'transactions', columns, read);
      const cursor = kit.cursor(ctx);
      const caption = reader.t('transactions.title');
      const { path } = kit;
      const table = tableView(reader, { caption, columns, path, filters, cursor, ...(await read(cursor)) });
      await showList(ctx, { title: caption, filters, table });
    });

    // The name of a person is sent as a form, so that it is in no URL.
    router.post('/', async (ctx) => {
      const reader = kit.reader(ctx);
      const subject = kit.posted(ctx).subject?.[0]?.trim() ?? '';
      if (subject === '') return kit.open(ctx, kit.path);
      const rows: Listed[] = await findTransactions(ctx, subject);
      const columns = columnsOf(reader, kit.path).map(({ csv: _, ...column }) => column);
      const caption = reader.t('transactions.of', { subject });
      const filters = kit.filters(ctx, kit.path, []);
      const table = tableView(reader, { caption, columns, path: kit.path, rows });
      await showList(ctx, { title: caption, filters, table, subject });
    });

    router.get('/:id', async (ctx) => {
      const id = String(ctx.params.id);
      await kit.page(ctx, 'transaction', await readTransaction(ctx, kit, id));
    });
    actRoutes(router, kit);

    const showList = (ctx: Context, locals: { title: string; subject?: string; [name: string]: unknown }) =>
      kit.page(ctx, 'list', {
        ...locals,
        path: kit.path,
        search: kit.form(ctx, {
          action: kit.path,
          submit: kit.reader(ctx).t('transactions.search'),
          fields: [{ name: 'subject', label: kit.reader(ctx).t('transactions.subject'), isRequired: true }],
          values: { subject: locals.subject ?? '' },
        }),
      });

    /** Transactions of a person, or the one with this id. */
    const findTransactions = async (ctx: Context, text: string): Promise<Listed[]> => {
      const api = kit.api(ctx);
      const { body } = await api.call('searchTransactions', { body: { subject: text, size: 200 } });
      if (body.values.length > 0 || !idPattern.test(text)) return body.values;
      try {
        return [(await api.call('getTransaction', { params: { txid: text } })).body];
      } catch (error) {
        if (error instanceof ApiFailure && error.status === 404) return [];
        throw error;
      }
    };
  },
};

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{16,32}$/;
