import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { FieldSpec } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** Acts on a transaction: each asks on a page of its own. */
export function actRoutes(router: Router, kit: RoomKit): void {
  const urlOf = (ctx: Context) => `${kit.path}/${String(ctx.params.id)}`;
  const paramsOf = (ctx: Context) => ({ params: { txid: String(ctx.params.id) } });

  const act = (
    name: 'cancel' | 'child' | 'invite' | 'withdraw',
    tone: 'primary' | 'ending',
    carryOut: (ctx: Context) => Promise<void>,
    fieldsOf: (t: ConsoleReader['t']) => FieldSpec[] = () => [],
  ) => {
    const ask = async (ctx: Context, failure?: ApiFailure) => {
      const { t } = kit.reader(ctx);
      const confirmation = {
        title: t(`transactions.${name}Title`),
        effects: [t(`transactions.${name}Effect`)],
        form: kit.form(ctx, {
          action: `${urlOf(ctx)}/${name}`,
          submit: t(`transactions.${name}`),
          tone,
          cancelUrl: urlOf(ctx),
          fields: fieldsOf(t),
          values: failure ? kit.posted(ctx) : {},
          failure,
        }),
      };
      await kit.confirm(ctx, confirmation, failure?.status);
    };
    router.get(`/:id/${name}`, (ctx) => ask(ctx));
    router.post(`/:id/${name}`, async (ctx) => {
      try {
        await carryOut(ctx);
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        await ask(ctx, error);
      }
    });
  };

  act('cancel', 'ending', async (ctx) => {
    await kit.api(ctx).call('cancelTransaction', paramsOf(ctx));
    kit.open(ctx, urlOf(ctx), 'cancelled');
  });
  act('child', 'primary', async (ctx) => {
    const { body } = await kit.api(ctx).call('createChild', paramsOf(ctx));
    kit.open(ctx, `${kit.path}/${body.id}`, 'childMade');
  });
  act(
    'withdraw',
    'ending',
    async (ctx) => {
      const [comment = ''] = kit.posted(ctx).comment ?? [];
      const body = comment.trim() === '' ? {} : { comment };
      const { body: withdrawal } = await kit.api(ctx).call('withdrawConsents', { ...paramsOf(ctx), body });
      kit.open(ctx, `${kit.path}/${withdrawal.id}`, 'withdrawn');
    },
    (t) => [
      {
        name: 'comment',
        label: t('transactions.withdrawComment'),
        hint: t('transactions.withdrawCommentHint'),
        kind: 'textarea',
        maxLength: 4_000,
      },
    ],
  );
  act('invite', 'primary', async (ctx) => {
    await kit.api(ctx).call('sendInvitation', paramsOf(ctx));
    kit.open(ctx, urlOf(ctx), 'invited');
  });
}
