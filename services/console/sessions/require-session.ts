import { createHash } from 'node:crypto';
import type { Context, Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { parseJson } from '#lib/http/request-body.ts';
import type { ConsoleCookies } from '../sign-in/cookies.ts';
import type { Issuer } from '../sign-in/issuer.ts';
import { keepPath, readPath } from '../sign-in/paths.ts';
import { signInUrl } from '../sign-in/routes.ts';
import type { KeptPosts } from './kept-posts.ts';
import { parseSentForm } from './read-form.ts';
import { type ConsoleSession, formOf, type OwnSessions, type RecentCalls } from './session.ts';
import { SignInNeeded } from './sign-in-needed.ts';
import { type FoundSession, isDue, type SessionStore, type StoredSession } from './store.ts';
import { visitorOf } from './visitor.ts';

/** A redirect takes no longer. */
const recentSeconds = 60;

interface Dependencies {
  baseUrl: string;
  cookies: ConsoleCookies;
  store: SessionStore;
  kept: KeptPosts;
  issuer: Issuer;
  /** Answers a frame, which cannot show the pages of a sign-in. */
  sendEndedFrame(ctx: Context): void;
}

/**
 * Puts the session of the person on the request. Without one a page leads to the sign-in and back; a form
 * that was sent is kept and shown again, as it was typed, to the same person.
 */
export function requireSession({
  baseUrl,
  cookies,
  store,
  kept,
  issuer,
  sendEndedFrame,
}: Dependencies): Middleware {
  return async (ctx, next) => {
    const id = cookies.session.read(ctx);
    // A session may have ended while the body of a form arrived.
    const visitor = visitorOf(ctx);
    let found = ctx.method === 'GET' || !visitor || !id ? visitor : await store.find(id);
    if (found) await parseSentForm(ctx);
    if (id && found && !found.ended && isDue(found.renewAt)) {
      if (found.signedIn.refreshToken) found = await store.renew(id, issuer.renew);
      else return signInAgain(ctx, found, { silent: true });
    }
    if (!found || found.ended) return signInAgain(ctx, found, {});
    const { person, signedInAt, signedIn } = found;
    const { name, roles, accessToken } = signedIn;
    const account = accountOf(person);
    const exceptId = id as string;
    const own: OwnSessions = {
      list: () => store.listOf(person, exceptId),
      end: (handle) => store.endOf(person, handle === undefined ? { exceptId } : { handle }),
    };
    const calls = recentCalls(ctx, person);
    ctx.state.session = {
      name,
      account,
      roles,
      signedInAt,
      accessToken,
      own,
      calls,
    } satisfies ConsoleSession;
    await readKept(ctx, found);
    try {
      if (ctx.method === 'POST' && ctx.path === keepPath) return await keepSent(ctx, found);
      await next();
    } catch (error) {
      if (!(error instanceof SignInNeeded)) throw error;
      await signInAgain(ctx, { person }, { maxAge: error.maxAge });
    }
  };

  /**
   * @param found who has sent a form. Without a cookie nobody knows: then the browser keeps it, and
   * assets/unsent.js sends it to {@link keepSent} after the sign-in.
   */
  async function signInAgain(
    ctx: Context,
    found: Pick<FoundSession, 'person'> | undefined,
    asked: { silent?: boolean; maxAge?: number },
  ): Promise<void> {
    // What is typed around a frame stays there; a preview is not worth keeping.
    const isFramed = ctx.get('sec-fetch-dest') === 'iframe';
    if (isFramed && !(asked.silent && ctx.method === 'GET')) return sendEndedFrame(ctx);
    const form = ctx.state.form;
    const to = new URL(ctx.method === 'GET' ? ctx.url : ctx.path, baseUrl);
    if (ctx.method === 'GET' && ctx.get('hx-request')) throw fail('unauthorized', 'Please sign in again.');
    if (form && found) {
      const id = await kept.keep(found.person, { path: ctx.path, fields: [...form] });
      to.searchParams.set('kept', id);
    } else if (ctx.method === 'POST' && !found) to.searchParams.set('kept', 'browser');
    ctx.status = 303;
    ctx.redirect(signInUrl(baseUrl, { to: to.pathname + to.search, ...asked }));
  }

  /** Keeps a form that the browser of the person has kept during the sign-in, and leads to its page. */
  async function keepSent(ctx: Context, { person }: StoredSession): Promise<void> {
    const form = formOf(ctx);
    const to = new URL(readPath(form.get('path'), baseUrl), baseUrl);
    const fields = parseJson(Buffer.from(form.get('fields') ?? ''));
    if (!isFields(fields)) throw fail('malformed', 'The fields are not pairs of names and values.');
    to.searchParams.set('kept', await kept.keep(person, { path: to.pathname, fields }));
    ctx.status = 303;
    ctx.redirect(to.href);
  }

  /** Kept as forms are, because a body may be larger than a cookie, and has data of people. */
  function recentCalls(ctx: Context, person: string): RecentCalls {
    return {
      async keep(lines) {
        const fields = lines.map((line): [string, string] => ['call', line]);
        cookies.calls.write(ctx, await kept.keep(person, { path: '', fields }), recentSeconds);
      },
      async take() {
        const id = cookies.calls.read(ctx);
        if (!id) return [];
        cookies.calls.remove(ctx);
        return ((await kept.take(id, person))?.fields ?? []).map(([, line]) => line);
      },
    };
  }

  async function readKept(ctx: Context, { person }: StoredSession): Promise<void> {
    const id = ctx.query.kept;
    if (ctx.method !== 'GET' || typeof id !== 'string') return;
    const post = await kept.find(id, person);
    if (post?.path === ctx.path) ctx.state.kept = new URLSearchParams(post.fields);
  }
}

/** Names the account of a person to its own pages, and tells nothing about it. */
function accountOf(person: string): string {
  return createHash('sha256').update(person).digest('base64url').slice(0, 16);
}

function isFields(given: unknown): given is [string, string][] {
  const isPair = (each: unknown) =>
    Array.isArray(each) && each.length === 2 && each.every((text) => typeof text === 'string');
  return Array.isArray(given) && given.every(isPair);
}
