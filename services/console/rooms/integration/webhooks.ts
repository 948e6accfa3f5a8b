import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { rowsOf, sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import { deliveryRoutes, readDeliveries } from './webhook-deliveries.ts';
import { factsOf, fieldsOf, markOf, readWebhook, valuesOf } from './webhook-form.ts';

type Webhook = components['schemas']['Webhook'];

/** Webhooks: list, create, change, renew the secret, resume, test, delete. */
export function webhookRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/webhooks`;
  const urlOf = (ctx: Context) => `${path}/${String(ctx.params.id)}`;
  const paramsOf = (ctx: Context) => ({ params: { id: String(ctx.params.id) } });

  router.get('/webhooks', (ctx) => {
    const reader = kit.reader(ctx);
    return sendList(ctx, kit, {
      view: 'webhooks',
      title: reader.t('webhooks.title'),
      path,
      columns: columnsOf(reader, path),
      read: (cursor) => rowsOf(kit.api(ctx).call('listWebhooks', { query: { cursor } })),
      csv: 'webhooks',
      locals: { newUrl: kit.may(ctx, 'createWebhook') && `${path}/new` },
    });
  });

  formPage(router, kit, {
    path: '/webhooks/new',
    view: 'form',
    isCreating: true,
    ask: (_, reader) => ({
      title: reader.t('webhooks.new'),
      submit: reader.t('webhooks.create'),
      cancelUrl: path,
      fields: fieldsOf(reader),
      values: { actions: ['consent.committed'] },
    }),
    send: (ctx) => kit.api(ctx).call('createWebhook', { body: readWebhook(kit.posted(ctx)) }),
    done: (ctx, { body: { id, secret } }) => showSecret(ctx, secret, `${path}/${id}`, 'webhooks.made'),
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
      facts: factsOf(reader, webhook),
      actions: webhook.subscribedActions,
      acts: [
        { href: `${href}/edit`, word: reader.t('webhooks.edit') },
        { href: `${href}/secret`, word: reader.t('webhooks.renew') },
        { href: `${href}/delete`, word: reader.t('webhooks.delete'), tone: 'ending' },
      ],
      test: kit.form(ctx, { action: `${href}/test`, submit: reader.t('webhooks.test') }),
      resume:
        webhook.state === 'PAUSED' &&
        kit.form(ctx, { action: `${href}/resume`, submit: reader.t('webhooks.resume') }),
      ...deliveries,
    });
  });

  formPage(router, kit, {
    path: '/webhooks/:id/edit',
    view: 'form',
    async ask(ctx, reader) {
      const { body: webhook } = await kit.api(ctx).call('getWebhook', paramsOf(ctx));
      return {
        title: reader.t('webhooks.editTitle', { name: webhook.name }),
        submit: reader.t('webhooks.save'),
        cancelUrl: urlOf(ctx),
        fields: fieldsOf(reader),
        values: valuesOf(webhook),
      };
    },
    send: (ctx) =>
      kit.api(ctx).call('updateWebhook', { ...paramsOf(ctx), body: readWebhook(kit.posted(ctx)) }),
    done: (ctx) => kit.open(ctx, urlOf(ctx), 'webhookChanged'),
  });

  /** What the page asks before an act. */
  const question =
    (act: 'secret' | 'delete') =>
    async (ctx: Context, { t }: ConsoleReader) => {
      const { body } = await kit.api(ctx).call('getWebhook', paramsOf(ctx));
      return {
        title: t(`webhooks.${act}Title`, { name: body.name }),
        effects: [t(`webhooks.${act}Effect`)],
        submit: t(act === 'delete' ? 'webhooks.delete' : 'webhooks.renew'),
        tone: act === 'delete' ? ('ending' as const) : ('primary' as const),
        cancelUrl: urlOf(ctx),
      };
    };
  formPage(router, kit, {
    path: '/webhooks/:id/secret',
    ask: question('secret'),
    send: (ctx) => kit.api(ctx).call('renewWebhookSecret', paramsOf(ctx)),
    done: (ctx, { body }) => showSecret(ctx, body.secret, urlOf(ctx), 'webhooks.renewed'),
  });
  formPage(router, kit, {
    path: '/webhooks/:id/delete',
    ask: question('delete'),
    send: (ctx) => kit.api(ctx).call('deleteWebhook', paramsOf(ctx)),
    done: (ctx) => kit.open(ctx, path, 'webhookDeleted'),
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
  const { text, code, time } = columnsFor<Webhook>(reader);
  return [
    text('webhooks.name', ({ name }) => name, { href: ({ id }) => `${path}/${id}` }),
    code('webhooks.url', ({ targetUrl }) => targetUrl),
    {
      label: reader.t('webhooks.state'),
      cell: (webhook) => ({ state: markOf(reader, webhook) }),
      csv: ({ state, failingSince }) => (failingSince && state === 'ACTIVE' ? 'FAILING' : state),
    },
    time('webhooks.failingSince', ({ failingSince }) => failingSince),
  ];
}
