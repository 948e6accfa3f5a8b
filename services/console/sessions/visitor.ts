import type { Context, Middleware } from 'koa';
import { chargeTo } from '#lib/http/pacer.ts';
import type { ConsoleCookies } from '../sign-in/cookies.ts';
import type { FoundSession, SessionStore } from './store.ts';

/** Finds the session of a request, before anything of its body is read. */
export function findVisitor({
  cookies,
  store,
}: {
  cookies: ConsoleCookies;
  store: Pick<SessionStore, 'find'>;
}): Middleware {
  return async (ctx, next) => {
    const id = cookies.session.read(ctx);
    const found = id ? await store.find(id) : undefined;
    ctx.state.visitor = found;
    if (found && !found.ended) chargeTo(ctx, { roles: ['user'], account: found.person });
    await next();
  };
}

/** The session of the cookie, which may have ended; undefined for a stranger. */
export function visitorOf(ctx: Context): FoundSession | undefined {
  return (ctx.state as { visitor?: FoundSession }).visitor;
}
