import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { placesOf } from './places.ts';
import { deliveryRoutes, readDeliveries } from './webhook-deliveries.ts';
import { factsOf, fieldsOf, markOf, readWebhook, valuesOf } from './webhook-form.ts';

type Webhook = components['schemas']['Webhook'];

/** Webhooks: list, create, change, renew the secret, resume, test, delete. */
export function webhookRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/webhooks`;
  const urlOf = (ctx: Context) => `${path}/${String(ctx.params.id)}`;
  const paramsOf = (ctx: Context) => ({ params: { id: String(ctx.params.id) } });

  router.get('/webhooks', async (ctx) => {
    const reader = kit.reader(ctx);
    const columns = columnsOf(reader, path);
    const read = async (cursor?: string) => {
      const { body, next } = await kit.api(ctx).call('listWebhooks', { query: { cursor } });
      return { rows: body, next };
    };
    if (ctx.query.format === 'csv') return sendCsv(ctx, 'webhooks', columns, read);
    const cursor = kit.cursor(ctx);
    const caption = reader.t('webhooks.title');
    await kit.page(ctx, 'webhooks', {
      title: caption,
      places: placesOf(ctx, kit),
      newUrl: kit.may(ctx, 'createWebhook') && `${path}/new`,
      table: tableView(reader, { caption, columns, path, cursor, ...(await read(cursor)) }),
    });
  });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const form = kit.form(ctx, {
      action: `${path}/new`,
      submit: reader.t('webhooks.create'),
      cancelUrl: path,
      fields: fieldsOf(reader),
      values: failure ? kit.posted(ctx) : { actions: ['consent.committed'] },
      failure,
      once: kit.once.make(),
    });
    const title = reader.t('webhooks.new');
    await kit.page(ctx, 'new', { title, places: placesOf(ctx, kit), form }, failure?.status);
  };
  router.get('/webhooks/new', (ctx) => showNew(ctx));

  router.post('/webhooks/new', async (ctx) => {
    const values = kit.posted(ctx);
    try {
      const body = readWebhook(values);
      const result = await kit.once.run(values.once?.[0], () => kit.api(ctx).call('createWebhook', { body }));
      if (result === 'repeated') return kit.open(ctx, path, 'repeated');
      const { id, secret } = result.made.body;
      await showSecret(ctx, secret, `${path}/${id}`, 'webhooks.made');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
  });

  const showSecret = (ctx: Context, secret: string, href: string, titleKey: string) => {
    const { t } = kit.reader(ctx);
    return kit.secret(ctx, {
      title: t(titleKey),
      text: t('webhooks.secretText'),
      label: t('webhooks.secret'),
      value: secret,
      next: { href, word: t('webhooks.open') },
    });
  };

  router.get('/webhooks/:id', async (ctx) => {
    const reader = kit.reader(ctx);
    const api = kit.api(ctx);
    const [{ body: webhook }, deliveries] = await Promise.all([
      api.call('getWebhook', paramsOf(ctx)),
      readDeliveries(ctx, kit, urlOf(ctx)),
    ]);
    const href = urlOf(ctx);
    await kit.page(ctx, 'webhook', {
      title: webhook.name,
      places: placesOf(ctx, kit),
      facts: factsOf(reader, webhook),
      actions: webhook.subscribedActions,
      acts: [
        { href: `${href}/edit`, word: reader.t('webhooks.edit') },
        { href: `${href}/secret`, word: reader.t('webhooks.renew') },
        { href: `${href}/delete`, word: reader.t('webhooks.delete'), tone: 'ending' },
      ],
      test: kit.form(ctx, { action: `${href}/test`, submit: reader.t('webhooks.test'), fields: [] }),
      resume:
        webhook.state === 'PAUSED' &&
        kit.form(ctx, { action: `${href}/resume`, submit: reader.t('webhooks.resume'), fields: [] }),
      ...deliveries,
    });
  });

  const showEdit = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const { body: webhook } = await kit.api(ctx).call('getWebhook', paramsOf(ctx));
    const form = kit.form(ctx, {
      action: `${urlOf(ctx)}/edit`,
      submit: reader.t('webhooks.save'),
      cancelUrl: urlOf(ctx),
      fields: fieldsOf(reader),
      values: failure ? kit.posted(ctx) : valuesOf(webhook),
      failure,
    });
    const title = reader.t('webhooks.editTitle', { name: webhook.name });
    await kit.page(ctx, 'new', { title, places: placesOf(ctx, kit), form }, failure?.status);
  };
  router.get('/webhooks/:id/edit', (ctx) => showEdit(ctx));

  router.post('/webhooks/:id/edit', async (ctx) => {
    try {
      const body = readWebhook(kit.posted(ctx));
      await kit.api(ctx).call('updateWebhook', { ...paramsOf(ctx), body });
      kit.open(ctx, urlOf(ctx), 'webhookChanged');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showEdit(ctx, error);
    }
  });

  /** A page that asks before an act. */
  const ask = (act: 'secret' | 'delete', tone: 'primary' | 'ending') =>
    router.get(`/webhooks/:id/${act}`, async (ctx) => {
      const { t } = kit.reader(ctx);
      const { body } = await kit.api(ctx).call('getWebhook', paramsOf(ctx));
      await kit.confirm(ctx, {
        title: t(`webhooks.${act}Title`, { name: body.name }),
        effects: [t(`webhooks.${act}Effect`)],
        form: kit.form(ctx, {
          action: `${urlOf(ctx)}/${act}`,
          submit: t(act === 'delete' ? 'webhooks.delete' : 'webhooks.renew'),
          tone,
          cancelUrl: urlOf(ctx),
          fields: [],
        }),
      });
    });
  ask('secret', 'primary');
  ask('delete', 'ending');

  router.post('/webhooks/:id/secret', async (ctx) => {
    const { body } = await kit.api(ctx).call('renewWebhookSecret', paramsOf(ctx));
    await showSecret(ctx, body.secret, urlOf(ctx), 'webhooks.renewed');
  });
  router.post('/webhooks/:id/delete', async (ctx) => {
    await kit.api(ctx).call('deleteWebhook', paramsOf(ctx));
    kit.open(ctx, path, 'webhookDeleted');
  });
  router.post('/webhooks/:id/resume', async (ctx) => {
    await kit.api(ctx).call('resumeWebhook', paramsOf(ctx));
    kit.open(ctx, urlOf(ctx), 'webhookResumed');
  });
  router.post('/webhooks/:id/test', async (ctx) => {
    await kit.api(ctx).call('testWebhook', paramsOf(ctx));
    kit.open(ctx, urlOf(ctx), 'webhookTested');
  });
  // A form without a page of its own that was kept during a sign-in leads to the webhook.
  for (const act of ['test', 'resume', 'redeliver'])
    router.get(`/webhooks/:id/${act}`, (ctx) => kit.open(ctx, urlOf(ctx)));
  deliveryRoutes(router, kit);
}

function columnsOf(reader: ConsoleReader, path: string): Column<Webhook>[] {
  return [
    {
      label: reader.t('webhooks.name'),
      cell: ({ id, name }) => ({ text: name, href: `${path}/${id}` }),
      csv: ({ name }) => name,
    },
    {
      label: reader.t('webhooks.url'),
      cell: ({ targetUrl }) => ({ code: targetUrl }),
      csv: ({ targetUrl }) => targetUrl,
    },
    {
      label: reader.t('webhooks.state'),
      cell: (webhook) => ({ state: markOf(reader, webhook) }),
      csv: ({ state, failingSince }) => (failingSince && state === 'ACTIVE' ? 'FAILING' : state),
    },
    {
      label: reader.t('webhooks.failingSince'),
      cell: ({ failingSince }) => (failingSince ? { time: reader.time(failingSince) } : { text: '–' }),
      csv: ({ failingSince }) => failingSince ?? '',
    },
  ];
}
