import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { sessionOf } from '../../sessions/session.ts';
import { findForm } from './read-form.ts';

/** Trying a form: a transaction of the person who is signed in. */
export function trialRoutes(router: Router, kit: RoomKit): void {
  const subjectOf = (ctx: Context) => `trial/${sessionOf(ctx).name}`;

  const ask = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    const { entry, href } = await findForm(ctx, kit);
    const form = kit.form(ctx, {
      action: `${href}/try`,
      submit: t('try.start'),
      cancelUrl: href,
      fields: [],
      failure,
    });
    const title = t('try.title', { name: entry.name });
    const effects = [t('try.counts', { subject: subjectOf(ctx) }), t('try.hour')];
    await kit.confirm(ctx, { title, effects, form }, failure?.status);
  };
  router.get('/:key/try', (ctx) => ask(ctx));

  router.post('/:key/try', async (ctx) => {
    const { entry } = await findForm(ctx, kit);
    try {
      const body = { subject: subjectOf(ctx), layout: entry.key, timeout: 'PT1H' };
      const { location } = await kit.api(ctx).call('createTransaction', { body });
      ctx.status = 303;
      ctx.set('Location', location ?? kit.path);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await ask(ctx, error);
    }
  });
}
