import type Router from '@koa/router';
import type { Context } from 'koa';
import { actPage, formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { addressField, keepAddress } from '../../people/subject-path.ts';

/** The address to which an invitation goes: that of the transaction, else of the person. */
async function readAddress(ctx: Context, tools: RoomTools) {
  const api = tools.api(ctx);
  const { subject, context } = (await api.call('getTransaction', { params: ctx.params })).body;
  const own = context?.subjectInfos?.emailAddress;
  const known = own ?? (await api.call('getSubject', { params: { name: subject } })).body.emailAddress;
  return { subject, address: known };
}

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
    done(ctx, { body: { url, expires } }) {
      const { t, time } = tools.reader(ctx);
      return tools.secret(ctx, {
        title: t('transactions.linkShown'),
        text: t('transactions.linkText', { date: time(expires).text }),
        label: t('transactions.linkOf'),
        value: url,
        next: { href: `${tools.path}/${ctx.params.txid}`, word: t('transactions.back') },
      });
    },
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
  formPage(router, tools, {
    path: '/:txid/invite',
    operation: 'sendInvitation',
    words: 'transactions.invite',
    async ask(ctx, reader) {
      const { address } = await readAddress(ctx, tools);
      if (address) return { effects: [reader.t('transactions.inviteTo', { address })] };
      return {
        effects: [reader.t('transactions.noAddress')],
        fields: [addressField(reader, { isRequired: true })],
      };
    },
    async send(ctx, field) {
      const { address, subject } = await readAddress(ctx, tools);
      if (!address) await keepAddress(ctx, tools, subject, field('emailAddress'));
      return tools.api(ctx).call('sendInvitation', { params: ctx.params });
    },
    done: 'invited',
  });
}
