import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { routesOf } from '#lib/http/mount-contract.ts';
import type { CreateApiClient } from '../api/api-client.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { sessionOf } from '../sessions/session.ts';
import type { OutsidePages } from './outside-pages.ts';

/**
 * The sign-in of a form with an address of its own (`SIGN_IN`): everybody with an account, staff or not,
 * begins here as the person who is signed in. GET creates nothing.
 */
export function answerForms({
  api,
  pages,
}: {
  api: CreateApiClient;
  pages: Pick<OutsidePages, 'sendAnswer'>;
}): Middleware {
  const router = new Router({ prefix: '/console/answer', sensitive: true });
  router.get('/:key', (ctx) => pages.sendAnswer(ctx, sessionOf(ctx).name));
  router.post('/:key', async (ctx: Context) => {
    const params = { key: String(ctx.params.key) };
    const { location } = await api(sessionOf(ctx))
      .call('startPublicForm', { params })
      .catch((error: unknown) => {
        throw error instanceof ApiFailure ? shownFailure(error) : error;
      });
    ctx.status = 303;
    ctx.set('Location', location ?? '/');
  });
  return routesOf(router);
}

function shownFailure({ status, retryAfter = 10 }: ApiFailure): Failure {
  if (status === 404 || status === 410) return fail('not-found', 'The form cannot be answered any more.');
  const headers = { 'Retry-After': String(retryAfter) };
  if (status === 429) return fail('too-many-requests', 'Please try again later.', { headers });
  return fail('unavailable', 'The form does not answer. Please try again.', { headers });
}
