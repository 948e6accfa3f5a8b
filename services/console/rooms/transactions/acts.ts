import type Router from '@koa/router';
import type { Context } from 'koa';
import { fieldsFor } from '../../pages/form.ts';
import { actPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** Acts on a transaction: each asks on a page of its own. */
export function actRoutes(router: Router, kit: RoomKit): void {
  const openMade = (done: string) => (ctx: Context, made: { body: { id: string } }) =>
    kit.open(ctx, `${kit.path}/${made.body.id}`, done);

  actPage(router, kit, {
    path: '/:txid/cancel',
    operation: 'cancelTransaction',
    words: 'transactions.cancel',
    isEnding: true,
    done: 'cancelled',
  });
  actPage(router, kit, {
    path: '/:txid/child',
    operation: 'createChild',
    words: 'transactions.child',
    isCreating: true,
    done: openMade('childMade'),
  });
  actPage(router, kit, {
    path: '/:txid/withdraw',
    operation: 'withdrawConsents',
    words: 'transactions.withdraw',
    isEnding: true,
    ask(_, reader) {
      const rest = { word: 'withdrawComment', kind: 'textarea', maxLength: 4_000 } as const;
      return { fields: [fieldsFor(reader, 'transactions')('comment', rest)] };
    },
    body: (field) => (field('comment') ? { comment: field('comment') } : {}),
    done: openMade('withdrawn'),
  });
  actPage(router, kit, {
    path: '/:txid/invite',
    operation: 'sendInvitation',
    words: 'transactions.invite',
    done: 'invited',
  });
}
