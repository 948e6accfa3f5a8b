import type Router from '@koa/router';
import type { Context } from 'koa';
import { trialPrefix } from '#lib/contracts/trials.ts';
import { findForm } from '../../models/read-model.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { sessionOf } from '../../sessions/session.ts';

/** Trying a form: a transaction of the person who is signed in. */
export function trialRoutes(router: Router, tools: RoomTools): void {
  const subjectOf = (ctx: Context) => `${trialPrefix}${sessionOf(ctx).name}`;

  formPage(router, tools, {
    path: '/:key/try',
    operation: 'createTransaction',
    words: 'try',
    isCreating: true,
    async ask(ctx, { t }) {
      const { entry } = await findForm(ctx, tools);
      return { name: entry.name, opensTab: true, effects: [t('try.counts', { subject: subjectOf(ctx) })] };
    },
    async send(ctx) {
      const { entry } = await findForm(ctx, tools);
      const body = { subject: subjectOf(ctx), layout: entry.key, timeout: 'PT1H' };
      return tools.api(ctx).call('createTransaction', { body });
    },
    done: (ctx, { location }) => tools.open(ctx, location ?? tools.path),
  });
}
