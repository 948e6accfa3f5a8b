import type Router from '@koa/router';
import type { Context } from 'koa';
import { actPage, formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { addressField, keepAddress } from '../../people/subject-path.ts';

/** The address to which an invitation goes: that of the transaction, else of the person. */
async function readAddress(ctx: Context, kit: RoomKit) {
  const api = kit.api(ctx);
  const { subject, context } = (await api.call('getTransaction', { params: ctx.params })).body;
  const own = context?.subjectInfos?.emailAddress;
  const known = own ?? (await api.call('getSubject', { params: { name: subject } })).body.emailAddress;
  return { subject, address: known };
}

/** Acts on a transaction: each asks on a page of its own. */
export function actRoutes(router: Router, kit: RoomKit): void {
  const openMade = (done: string) => (ctx: Context, made: { body: { id: string } }) =>
    kit.open(ctx, `${kit.path}/${made.body.id}`, done);

  // Who has the link can act as the person: it is shown on demand, to be passed on.
  formPage(router, kit, {
    path: '/:txid/link',
    operation: 'createShortLink',
    words: 'transactions.link',
    async ask(ctx) {
      const { subject } = (await kit.api(ctx).call('getTransaction', { params: ctx.params })).body;
      return { name: subject };
    },
    send: (ctx) => kit.api(ctx).call('createShortLink', { params: ctx.params }),
    done(ctx, { body: { url, expires } }) {
      const { t, time } = kit.reader(ctx);
      return kit.secret(ctx, {
        title: t('transactions.linkShown'),
        text: t('transactions.linkText', { date: time(expires).text }),
        label: t('transactions.linkOf'),
        value: url,
        next: { href: `${kit.path}/${ctx.params.txid}`, word: t('transactions.back') },
      });
    },
  });
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
  formPage(router, kit, {
    path: '/:txid/invite',
    operation: 'sendInvitation',
    words: 'transactions.invite',
    async ask(ctx, reader) {
      const { address } = await readAddress(ctx, kit);
      if (address) return { effects: [reader.t('transactions.inviteTo', { address })] };
      return {
        effects: [reader.t('transactions.noAddress')],
        fields: [addressField(reader, { isRequired: true })],
      };
    },
    async send(ctx, field) {
      const { address, subject } = await readAddress(ctx, kit);
      if (!address) await keepAddress(ctx, kit, subject, field('emailAddress'));
      return kit.api(ctx).call('sendInvitation', { params: ctx.params });
    },
    done: 'invited',
  });
}
