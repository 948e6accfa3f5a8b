import type Router from '@koa/router';
import type { Context } from 'koa';
import { actPage, formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { inviteRoute } from './invite.ts';
import { showLink } from './show-link.ts';

/** Acts on a transaction: each asks on a page of its own. */
export function actRoutes(router: Router, tools: RoomTools): void {
  const openMade = (done: string) => (ctx: Context, made: { body: { id: string } }) =>
    tools.open(ctx, `${tools.path}/${made.body.id}`, done);

  // Who has the link can act as the person: it is shown on demand, to be passed on.
  formPage(router, tools, {
    path: '/:txid/link',
    operation: 'createShortLink',
    words: 'transactions.link',
    async ask(ctx) {
      const { subject } = (await tools.api(ctx).call('getTransaction', { params: ctx.params })).body;
      return { name: subject };
    },
    send: (ctx) => tools.api(ctx).call('createShortLink', { params: ctx.params }),
    done: (ctx, { body }) => showLink(ctx, tools, body),
  });
  actPage(router, tools, {
    path: '/:txid/cancel',
    operation: 'cancelTransaction',
    words: 'transactions.cancel',
    isEnding: true,
    done: 'cancelled',
  });
  actPage(router, tools, {
    path: '/:txid/child',
    operation: 'createChild',
    words: 'transactions.child',
    isCreating: true,
    done: openMade('childMade'),
  });
  inviteRoute(router, tools);
}
