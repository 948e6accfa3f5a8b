import type Router from '@koa/router';
import type { Context } from 'koa';
import { questionNames } from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import { actPage, buttonAct } from '../../pages/form-page.ts';
import { listRoute } from '../../pages/list-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { deliveryList, deliveryRoutes, readDeliveries } from './webhook-deliveries.ts';
import { factsOf, fieldsOf, markOf, readWebhook, valuesOf } from './webhook-form.ts';

/** Webhooks: list, create, change, renew the secret, resume, test, delete. */
export function webhookRoutes(router: Router, tools: RoomTools): void {
  const path = `${tools.path}/webhooks`;
  const find = async (ctx: Context) => (await tools.api(ctx).call('getWebhook', { params: ctx.params })).body;

  listRoute(router, tools, {
    path: '/webhooks',
    operation: 'listWebhooks',
    words: 'webhooks',
    columns: ({ text, code, time }, reader) => [
      text('webhooks.name', ({ name }) => name, { href: ({ id }) => `${path}/${id}` }),
      code('webhooks.url', ({ targetUrl }) => targetUrl),
      {
        label: reader.t('webhooks.state'),
        cell: (webhook) => ({ state: markOf(reader, webhook) }),
        csv: ({ state, failingSince }) => (failingSince && state === 'ACTIVE' ? 'FAILING' : state),
      },
      time('webhooks.failingSince', ({ failingSince }) => failingSince),
    ],
    creates: 'createWebhook',
  });

  const showSecret = (ctx: Context, secret: string, href: string, titleKey: string) => {
    const { t } = tools.reader(ctx);
    return tools.secret(ctx, {
      title: t(titleKey),
      text: t('webhooks.secretText'),
      label: t('webhooks.secret'),
      value: secret,
      next: { href, word: t('webhooks.open') },
    });
  };

  actPage(router, tools, {
    path: '/webhooks/new',
    operation: 'createWebhook',
    view: 'form',
    isCreating: true,
    ask: async (ctx, reader) => ({
      title: reader.t('webhooks.new'),
      submit: reader.t('webhooks.create'),
      fields: fieldsOf(reader, await questionNames(ctx, tools)),
      values: { actions: ['consent.committed'] },
    }),
    body: (_, posted) => readWebhook(posted),
    done: (ctx, { body: { id, secret } }) => showSecret(ctx, secret, `${path}/${id}`, 'webhooks.made'),
  });

  router.get('/webhooks/:id', async (ctx) => {
    const reader = tools.reader(ctx);
    const href = ctx.path;
    if (ctx.query.format === 'csv') {
      const { columns, read } = deliveryList(ctx, tools, href);
      return sendCsv(ctx, reader, { name: 'deliveries', columns, read });
    }
    const [webhook, names, deliveries] = await Promise.all([
      find(ctx),
      questionNames(ctx, tools),
      readDeliveries(ctx, tools, href),
    ]);
    const isPaused = webhook.state === 'PAUSED';
    await tools.page(ctx, 'webhook', {
      title: webhook.name,
      facts: factsOf(reader, names, webhook),
      actions: webhook.subscribedActions,
      acts: actLinks(ctx, tools, [
        { href: `${href}/edit`, word: 'webhooks.edit', operation: 'updateWebhook' },
        { href: `${href}/secret`, word: 'webhooks.renew', operation: 'renewWebhookSecret' },
        { href: `${href}/delete`, word: 'webhooks.delete', operation: 'deleteWebhook', isEnding: true },
      ]),
      test:
        tools.may(ctx, 'testWebhook') &&
        tools.form(ctx, {
          action: `${href}/test`,
          submit: reader.t('webhooks.test'),
          tone: isPaused ? 'plain' : 'primary',
        }),
      resume:
        isPaused &&
        tools.may(ctx, 'resumeWebhook') &&
        tools.form(ctx, { action: `${href}/resume`, submit: reader.t('webhooks.resume') }),
      ...deliveries,
    });
  });

  actPage(router, tools, {
    path: '/webhooks/:id/edit',
    operation: 'updateWebhook',
    view: 'form',
    async ask(ctx, reader) {
      const webhook = await find(ctx);
      return {
        title: reader.t('webhooks.editTitle', { name: webhook.name }),
        submit: reader.t('webhooks.save'),
        fields: fieldsOf(reader, await questionNames(ctx, tools), webhook),
        values: valuesOf(webhook),
      };
    },
    body: (_, posted) => readWebhook(posted),
    done: 'webhookChanged',
  });
  actPage(router, tools, {
    path: '/webhooks/:id/secret',
    operation: 'renewWebhookSecret',
    words: 'webhooks.renew',
    ask: async (ctx) => ({ name: (await find(ctx)).name }),
    done: (ctx, { body }) => showSecret(ctx, body.secret, `${path}/${ctx.params.id}`, 'webhooks.renewed'),
  });
  actPage(router, tools, {
    path: '/webhooks/:id/delete',
    operation: 'deleteWebhook',
    words: 'webhooks.delete',
    isEnding: true,
    ask: async (ctx) => ({ name: (await find(ctx)).name }),
    done: (ctx) => tools.open(ctx, path, 'webhookDeleted'),
  });
  buttonAct(router, tools, {
    path: '/webhooks/:id/resume',
    operation: 'resumeWebhook',
    done: 'webhookResumed',
  });
  deliveryRoutes(router, tools);
}
