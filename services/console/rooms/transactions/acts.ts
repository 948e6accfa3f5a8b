import type Router from '@koa/router';
import type { Context } from 'koa';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor } from '../../pages/form.ts';
import { type FormPage, formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** Acts on a transaction: each asks on a page of its own. */
export function actRoutes(router: Router, kit: RoomKit): void {
  const urlOf = (ctx: Context) => `${kit.path}/${String(ctx.params.id)}`;
  const paramsOf = (ctx: Context) => ({ params: { txid: String(ctx.params.id) } });

  const act = <Made>(
    name: 'cancel' | 'child' | 'invite' | 'withdraw',
    {
      tone,
      fields = () => [],
      ...carryOut
    }: Pick<FormPage<Made>, 'send' | 'done'> & {
      tone: 'primary' | 'ending';
      fields?: (reader: ConsoleReader) => FieldSpec[];
    },
  ) =>
    formPage(router, kit, {
      path: `/:id/${name}`,
      ask: (ctx, reader) => ({
        title: reader.t(`transactions.${name}Title`),
        effects: [reader.t(`transactions.${name}Effect`)],
        submit: reader.t(`transactions.${name}`),
        tone,
        cancelUrl: urlOf(ctx),
        fields: fields(reader),
      }),
      ...carryOut,
    });

  act('cancel', {
    tone: 'ending',
    send: (ctx) => kit.api(ctx).call('cancelTransaction', paramsOf(ctx)),
    done: (ctx) => kit.open(ctx, urlOf(ctx), 'cancelled'),
  });
  act('child', {
    tone: 'primary',
    send: (ctx) => kit.api(ctx).call('createChild', paramsOf(ctx)),
    done: (ctx, { body }) => kit.open(ctx, `${kit.path}/${body.id}`, 'childMade'),
  });
  act('withdraw', {
    tone: 'ending',
    fields: (reader) => [
      fieldsFor(reader, 'transactions')('comment', {
        word: 'withdrawComment',
        kind: 'textarea',
        maxLength: 4_000,
      }),
    ],
    send(ctx, field) {
      const comment = field('comment');
      return kit.api(ctx).call('withdrawConsents', { ...paramsOf(ctx), body: comment ? { comment } : {} });
    },
    done: (ctx, { body }) => kit.open(ctx, `${kit.path}/${body.id}`, 'withdrawn'),
  });
  act('invite', {
    tone: 'primary',
    send: (ctx) => kit.api(ctx).call('sendInvitation', paramsOf(ctx)),
    done: (ctx) => kit.open(ctx, urlOf(ctx), 'invited'),
  });
}
