import { randomBytes } from 'node:crypto';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import type { SecretBox } from '#lib/jose/secret-box.ts';
import { deviceOf } from '../sessions/device.ts';
import type { SessionStore } from '../sessions/store.ts';
import type { ConsoleCookies } from './cookies.ts';
import type { Attempt, Issuer } from './issuer.ts';
import { readPath } from './paths.ts';

const sealedAs = 'attempt';

interface Dependencies {
  baseUrl: string;
  issuer: Issuer;
  cookies: ConsoleCookies;
  store: SessionStore;
  /** Seals sign-ins that are under way. */
  box: SecretBox;
  /** Shows that the person has signed out. */
  showSignedOut: (ctx: Context) => Promise<void>;
}

/** A person has ten minutes at the issuer. */
const attemptSeconds = 600;

/** A sign-in that is under way. It is sealed in the parameter `state`, so that nothing is stored. */
interface SealedAttempt extends Attempt {
  /** The value of the cookie: only the same browser may finish. */
  browser: string;
  to: string;
  begunAt: number;
}

/** /console/sign-in, /console/callback, /console/sign-out: they need no session. */
export function mountSignIn(router: Router, dependencies: Dependencies): void {
  const { baseUrl, issuer, cookies, store, box, showSignedOut } = dependencies;

  router.get('/sign-in', async (ctx) => {
    // The callback is at BASE_URL, and needs the cookie. Behind a router that replaces Host: once.
    if (ctx.host !== new URL(baseUrl).host && ctx.query.here !== '1')
      return redirect(ctx, `${baseUrl}/console/sign-in?${ctx.querystring}&here=1`);
    const { silent, fresh, factor } = ctx.query;
    const maxAge = typeof fresh === 'string' && /^\d{1,6}$/.test(fresh) ? Number(fresh) : undefined;
    const browser = cookies.attempts.read(ctx) ?? randomBytes(16).toString('base64url');
    const facts = { browser, to: readPath(ctx.query.to, baseUrl), begunAt: Date.now() };
    const seal = (attempt: Attempt) =>
      box.seal(sealedAs, JSON.stringify({ ...attempt, ...facts })).toString('base64url');
    const url = await issuer.begin({ silent: silent === '1', maxAge, factor: factor === '1' }, seal);
    cookies.attempts.write(ctx, browser, attemptSeconds);
    redirect(ctx, url.href);
  });

  router.get('/callback', async (ctx) => {
    const attempt = readAttempt(ctx);
    // Tabs that were opened at once may have replaced each other's cookie.
    if (attempt.browser !== cookies.attempts.read(ctx)) return goOn(ctx, attempt);
    if (ctx.query.error && attempt.silent) return redirect(ctx, signInUrl(baseUrl, { to: attempt.to }));
    const callback = new URL(`${baseUrl}/console/callback?${ctx.querystring}`);
    const { person, tokens } = await issuer.finish(callback, attempt);
    const earlier = cookies.session.read(ctx);
    const before = earlier && attempt.silent ? await store.find(earlier) : undefined;
    // The issuer has not asked the person again: the longest time of the session goes on.
    const since = before?.person === person && !before.ended ? before.signedInAt : undefined;
    const id = await store.create(person, tokens, { since, device: deviceOf(ctx.get('user-agent')) });
    if (earlier) await store.remove(earlier);
    cookies.session.write(ctx, id);
    redirect(ctx, `${baseUrl}${attempt.to}`);
  });

  router.post('/sign-out', async (ctx) => {
    const id = cookies.session.read(ctx);
    const found = id ? await store.find(id) : undefined;
    if (id) await store.remove(id);
    cookies.session.remove(ctx);
    ctx.set('Clear-Site-Data', '"cache"');
    const tokens = found && !found.ended ? found.signedIn : undefined;
    const next = tokens && (await issuer.end(tokens));
    redirect(ctx, next ? next.href : `${baseUrl}/console/signed-out`);
  });

  router.get('/signed-out', showSignedOut);

  /** @throws Failure `malformed` if the sign-in is too old, or the browser has no cookie. */
  function readAttempt(ctx: Context): SealedAttempt & { state: string } {
    const state = String(ctx.query.state ?? '');
    try {
      const opened = box.open(sealedAs, Buffer.from(state, 'base64url'));
      const attempt = JSON.parse(opened) as SealedAttempt;
      const isInTime = Date.now() - attempt.begunAt < attemptSeconds * 1000;
      if (isInTime && cookies.attempts.read(ctx)) return { ...attempt, state };
    } catch {
      // It was not sealed here.
    }
    throw fail(
      'malformed',
      'This sign-in took too long, or your browser refuses cookies. Please open the console again.',
    );
  }

  /** Opens the page with the session of another tab, or begins again. */
  async function goOn(ctx: Context, { to }: SealedAttempt): Promise<void> {
    const id = cookies.session.read(ctx);
    const found = id ? await store.find(id) : undefined;
    redirect(ctx, found && !found.ended ? `${baseUrl}${to}` : signInUrl(baseUrl, { to }));
  }
}

/** The address that begins a sign-in. @param asked where to return, and what is asked of the person. */
export function signInUrl(
  baseUrl: string,
  { to, silent, maxAge }: { to: string; silent?: boolean; maxAge?: number },
): string {
  const query = new URLSearchParams({ to });
  if (silent) query.set('silent', '1');
  if (maxAge !== undefined) query.set('fresh', String(maxAge));
  return `${baseUrl}/console/sign-in?${query}`;
}

function redirect(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
}
