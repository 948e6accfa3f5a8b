import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** Acts on a transaction: each asks on a page of its own. */
export function actRoutes(router: Router, kit: RoomKit): void {
  const urlOf = (ctx: Context) => `${kit.path}/${String(ctx.params.id)}`;
  const paramsOf = (ctx: Context) => ({ params: { txid: String(ctx.params.id) } });

  const act = (
    name: 'cancel' | 'child' | 'invite',
    tone: 'primary' | 'ending',
    carryOut: (ctx: Context) => Promise<void>,
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
          fields: [],
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
  act('invite', 'primary', async (ctx) => {
    await kit.api(ctx).call('sendInvitation', paramsOf(ctx));
    kit.open(ctx, urlOf(ctx), 'invited');
  });
}
