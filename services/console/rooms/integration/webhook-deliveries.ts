import type Router from '@koa/router';
import type { Context } from 'koa';
import { subscribableActions } from '#lib/contracts/webhook-actions.ts';
import type { Schemas } from '../../api/api-types.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { ReadRows } from '../../pages/csv-export.ts';
import { choiceFilter } from '../../pages/filters.ts';
import { actPage, leadAbove } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type Column, tableView } from '../../pages/table.ts';

type Delivery = Schemas['Delivery'];

const statuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

/** The list of a webhook's deliveries. @param path of the page. */
export function deliveryList(ctx: Context, kit: RoomKit, path: string) {
  const reader = kit.reader(ctx);
  const filters = kit.filters(ctx, path, [
    choiceFilter(reader, 'deliveries.status', { name: 'status', group: 'deliveryStatus', codes: statuses }),
    choiceFilter(reader, 'deliveries.action', {
      name: 'action',
      group: 'webhookAction',
      codes: [...subscribableActions, 'webhook.test'],
    }),
    { name: 'sourceId', kind: 'text', label: reader.t('deliveries.source') },
  ]);
  const read: ReadRows<Delivery> = (cursor, limit) =>
    kit.api(ctx).list('listDeliveries', {
      params: { id: String(ctx.params.id) },
      query: filters.values,
      page: { cursor, limit },
    });
  return { filters, columns: columnsOf(reader, path), read };
}

/** A page of the deliveries, and a button that repeats those of them that failed. */
export async function readDeliveries(ctx: Context, kit: RoomKit, path: string) {
  const reader = kit.reader(ctx);
  const { filters, columns, read } = deliveryList(ctx, kit, path);
  const cursor = kit.cursor(ctx);
  const { rows, next } = await read(cursor);
  const caption = reader.t('deliveries.title');
  const table = tableView(reader, { caption, columns, rows, path, filters, cursor, next, csv: '' });
  const failed = rows.filter(({ status }) => status === 'FAILED').map(({ id }) => id);
  const repeat =
    failed.length > 0 &&
    kit.form(ctx, {
      action: `${path}/redeliver`,
      submit: reader.t('deliveries.repeatAll', { count: failed.length }),
      tone: 'plain',
      hidden: { ids: failed.join(' ') },
    });
  return { path, filters, table, repeat };
}

/** Repeats deliveries: the failed ones that were shown, or one. */
export function deliveryRoutes(router: Router, kit: RoomKit): void {
  router.post('/webhooks/:id/redeliver', async (ctx) => {
    const id = String(ctx.params.id);
    const ids = (kit.posted(ctx).ids?.[0] ?? '').split(' ').filter(Boolean).slice(0, maxRepeated);
    for (const did of ids) await kit.api(ctx).call('repeatDelivery', { params: { id, did } });
    kit.open(ctx, `${kit.path}/webhooks/${id}`, 'redelivered');
  });
  leadAbove(router, kit, '/webhooks/:id/redeliver');
  actPage(router, kit, {
    path: '/webhooks/:id/deliveries/:did',
    operation: 'repeatDelivery',
    words: 'deliveries.repeat',
    ask: (ctx) => ({ cancelUrl: `${kit.path}/webhooks/${ctx.params.id}` }),
    done: (ctx) => kit.open(ctx, `${kit.path}/webhooks/${ctx.params.id}`, 'redelivered'),
  });
}

/** As many as a page shows. */
const maxRepeated = 200;

function columnsOf(reader: ConsoleReader, path: string): Column<Delivery>[] {
  const { time, code, state, number, link } = columnsFor<Delivery>(reader);
  const noteOf = ({ status, error, statusCode, acknowledged }: Delivery) => {
    if (status !== 'DELIVERED') return error ?? (statusCode ? String(statusCode) : undefined);
    return acknowledged && reader.t(`deliveries.acknowledged.${acknowledged}`);
  };
  return [
    time('deliveries.created', ({ createdAt }) => createdAt),
    code('deliveries.action', ({ action }) => action),
    code('deliveries.source', ({ sourceId }) => sourceId),
    state('deliveries.status', 'deliveryStatus', ({ status }) => status, { note: noteOf }),
    number('deliveries.attempts', ({ attempts }) => attempts),
    time('deliveries.next', ({ nextAttemptAt }) => nextAttemptAt),
    link('deliveries.act', 'deliveries.repeat', ({ id, status }) =>
      status === 'PENDING' ? undefined : `${path}/deliveries/${id}`,
    ),
  ];
}
