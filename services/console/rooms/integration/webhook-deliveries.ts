import type Router from '@koa/router';
import type { Context } from 'koa';
import { subscribableActions } from '#lib/contracts/webhook-actions.ts';
import type { Schemas } from '../../api/api-types.ts';
import { columnsFor, factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { ReadRows } from '../../pages/csv-export.ts';
import { choiceFilter } from '../../pages/filters.ts';
import { leadAbove } from '../../pages/form-page.ts';
import { outboundReason } from '../../pages/outbound-reason.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';

type Delivery = Schemas['Delivery'];

const statuses = ['PENDING', 'DELIVERED', 'FAILED'] as const;

/** The list of a webhook's deliveries. @param path of the page. */
export function deliveryList(ctx: Context, tools: RoomTools, path: string) {
  const reader = tools.reader(ctx);
  const filters = tools.filters(ctx, path, [
    choiceFilter(reader, 'deliveries.status', { name: 'status', group: 'deliveryStatus', codes: statuses }),
    choiceFilter(reader, 'deliveries.action', {
      name: 'action',
      group: 'webhookAction',
      codes: [...subscribableActions, 'webhook.test'],
    }),
    { name: 'sourceId', kind: 'text', label: reader.t('deliveries.source') },
  ]);
  const read: ReadRows<Delivery> = (cursor, limit) =>
    tools.api(ctx).list('listDeliveries', {
      params: { id: String(ctx.params.id) },
      query: filters.values,
      page: { cursor, limit },
    });
  return { filters, columns: columnsOf(reader, path), read };
}

/** A page of the deliveries, and a button that repeats those of them that failed. */
export async function readDeliveries(ctx: Context, tools: RoomTools, path: string) {
  const reader = tools.reader(ctx);
  const { filters, columns, read } = deliveryList(ctx, tools, path);
  const cursor = tools.cursor(ctx);
  const { rows, next } = await read(cursor);
  const caption = reader.t('deliveries.title');
  const table = tableView(reader, { caption, columns, rows, path, filters, cursor, next, csv: '' });
  const failed = rows.filter(({ status }) => status === 'FAILED').map(({ id }) => id);
  const repeat =
    failed.length > 0 &&
    tools.form(ctx, {
      action: `${path}/redeliver`,
      submit: reader.t('deliveries.repeatAll', { count: failed.length }),
      tone: 'plain',
      hidden: { ids: failed.join(' ') },
    });
  return { path, filters, table, repeat };
}

/** The page of a delivery, and what repeats deliveries: the failed ones that were shown, or one. */
export function deliveryRoutes(router: Router, tools: RoomTools): void {
  router.post('/webhooks/:id/redeliver', async (ctx) => {
    const id = String(ctx.params.id);
    const ids = (tools.posted(ctx).ids?.[0] ?? '').split(' ').filter(Boolean).slice(0, maxRepeated);
    for (const did of ids) await tools.api(ctx).call('repeatDelivery', { params: { id, did } });
    tools.open(ctx, `${tools.path}/webhooks/${id}`, 'redelivered');
  });
  leadAbove(router, tools, '/webhooks/:id/redeliver');
  const sends = (path: string, operation: 'testWebhook' | 'repeatDelivery', done: string) => {
    router.post(path, async (ctx) => {
      const { body } = await tools.api(ctx).call(operation, { params: ctx.params });
      tools.open(ctx, `${tools.path}/webhooks/${body.webhookId}/deliveries/${body.id}`, done);
    });
    leadAbove(router, tools, path);
  };
  sends('/webhooks/:id/test', 'testWebhook', 'webhookTested');
  sends('/webhooks/:id/deliveries/:did/again', 'repeatDelivery', 'redelivered');
  // A list has no page of its own.
  leadAbove(router, tools, '/webhooks/:id/deliveries');

  router.get('/webhooks/:id/deliveries/:did', async (ctx) => {
    const reader = tools.reader(ctx);
    const { id, did } = ctx.params as { id: string; did: string };
    const [{ body: delivery }, { body: webhook }] = await Promise.all([
      tools.api(ctx).call('getDelivery', { params: { id, did } }),
      tools.api(ctx).call('getWebhook', { params: { id } }),
    ]);
    const { status, action, nextAttemptAt } = delivery;
    const isSoon = nextAttemptAt !== undefined && Date.parse(nextAttemptAt) < Date.now() + soonMs;
    await tools.page(ctx, 'delivery', {
      title: reader.t('deliveries.one', { action: reader.word('webhookAction', action) }),
      path: ctx.path,
      facts: [
        ...factsView(reader, {
          'deliveries.webhook': { text: webhook.name, href: `${tools.path}/webhooks/${id}` },
        }),
        ...factsOf(reader, delivery),
      ],
      // It is looked at again until it has arrived.
      waits: status === 'PENDING' && isSoon,
      body: JSON.stringify(JSON.parse(delivery.body ?? '{}'), null, 2),
      again:
        tools.may(ctx, 'repeatDelivery') &&
        tools.form(ctx, {
          action: `${ctx.path}/again`,
          submit: reader.t(status === 'PENDING' ? 'deliveries.now' : 'deliveries.repeat'),
          tone: status === 'FAILED' ? 'primary' : 'plain',
        }),
    });
  });
}

/** A next attempt within this time is waited for. */
const soonMs = 60_000;

function factsOf(reader: ConsoleReader, delivery: Delivery) {
  const { action, sourceId, status, attempts, statusCode, duration, acknowledged } = delivery;
  const { createdAt, deliveredAt, nextAttemptAt, messageId } = delivery;
  const answer = { code: statusCode ?? 0, ms: reader.number(duration ?? 0) };
  return factsView(reader, {
    'deliveries.status': {
      state: stateMark(reader, 'deliveryStatus', status),
      note: errorOf(reader, delivery),
    },
    'deliveries.action': { code: action },
    'deliveries.source': { code: sourceId, href: sourceHref(delivery) },
    'deliveries.created': { time: reader.time(createdAt) },
    'deliveries.delivered': deliveredAt && { time: reader.time(deliveredAt) },
    'deliveries.attempts': { number: reader.number(attempts) },
    'deliveries.answer': statusCode !== undefined && { text: reader.t('deliveries.answered', answer) },
    'deliveries.next': nextAttemptAt && { time: reader.time(nextAttemptAt) },
    'deliveries.receipt': acknowledged && { text: reader.t(`deliveries.acknowledged.${acknowledged}`) },
    'deliveries.message': messageId && { code: messageId },
  });
}

/** Why the last attempt failed, in the reader's language. */
function errorOf(
  reader: ConsoleReader,
  { error, errorCode: code }: Pick<Delivery, 'error' | 'errorCode'>,
): string | undefined {
  return error === undefined ? undefined : outboundReason(reader, { code, text: error });
}

/** The page of what a delivery concerns, if there is one: events of answers name their transaction. */
function sourceHref({ action, sourceId }: Delivery): string | undefined {
  return action.startsWith('consent.') ? `/console/transactions/${sourceId}` : undefined;
}

/** As many as a page shows. */
const maxRepeated = 200;

function columnsOf(reader: ConsoleReader, path: string): Column<Delivery>[] {
  const { time, code, state, number } = columnsFor<Delivery>(reader);
  const outcomeOf = (delivery: Delivery) => {
    const { status, statusCode, acknowledged } = delivery;
    if (status !== 'DELIVERED')
      return errorOf(reader, delivery) ?? (statusCode ? String(statusCode) : undefined);
    return acknowledged && reader.t(`deliveries.acknowledged.${acknowledged}`);
  };
  return [
    time('deliveries.created', ({ createdAt }) => createdAt),
    code('deliveries.action', ({ action }) => action, { href: ({ id }) => `${path}/deliveries/${id}` }),
    code('deliveries.source', ({ sourceId }) => sourceId, { href: sourceHref }),
    state('deliveries.status', 'deliveryStatus', ({ status }) => status, { note: outcomeOf }),
    number('deliveries.attempts', ({ attempts }) => attempts),
    time('deliveries.next', ({ nextAttemptAt }) => nextAttemptAt),
  ];
}
