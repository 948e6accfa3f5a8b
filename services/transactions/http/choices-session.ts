import type { Context } from 'koa';
import type { ChoicesSession, Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { type Cookie, createCookie, isFromOwnPage } from '#lib/http/cookies.ts';
import { keepQuery } from '#lib/pages/kept-query.ts';
import { type ChoicesTokens, sessionExpiry } from '../choices/session.ts';
import { readSessionPerson } from '../choices/sessions-store.ts';

/** The pages and actions below /choices. */
type ChoicesPath = '' | '/withdraw' | '/change' | '/erasure' | '/export' | '/end' | '/link' | '/open';

/** Sessions of people in their own choices, as requests carry them. */
export interface ChoicesSessions {
  /**
   * The person of a token: undefined for a text that is no token of a session or a link, null for one that
   * has ended, and for a link, which opens its page alone.
   */
  ofToken(token: string): Promise<Principal | null | undefined>;
  /**
   * The person of the cookie; undefined without a session.
   * @throws Failure `forbidden` for a change that another page has sent.
   */
  ofCookie(ctx: Context): Promise<Principal | undefined>;
  /** Writes the cookie of a session; one in a URL is renewed by {@link urlOf}. */
  renew(ctx: Context, session: ChoicesSession, now: Date): void;
  forget(ctx: Context): void;
  /** The URL of a page or an action: in the colour scheme of this request, a session in it renewed. */
  urlOf(ctx: Context, path: ChoicesPath, session?: { session: ChoicesSession; now: Date }): string;
}

export function createChoicesSessions({
  db,
  tokens,
  baseUrl,
}: {
  db: Database;
  tokens: ChoicesTokens;
  baseUrl: string;
}): ChoicesSessions {
  const cookie: Cookie = createCookie(baseUrl, 'accord_choices');

  async function ofToken(token: string): Promise<Principal | null | undefined> {
    const read = await tokens.read(token);
    if (read === undefined || read.use === 'choices-link') return read && null;
    const { use: _use, expiresAt, ...choices } = read;
    const found = await readSessionPerson(db, choices);
    if (!found || expiresAt <= found.now || sessionExpiry(choices, found.now) <= found.now) return null;
    const account = `choices:${choices.person}`;
    return { roles: ['choices'], name: found.name, subject: found.name, account, choices };
  }

  return {
    ofToken,
    async ofCookie(ctx) {
      const token = cookie.read(ctx);
      const principal = token === undefined ? undefined : await ofToken(token);
      if (!principal) return undefined;
      if (ctx.method !== 'GET' && ctx.method !== 'HEAD' && !isFromOwnPage(ctx, baseUrl))
        throw fail('forbidden', 'This request did not come from a page of this instance.');
      return principal;
    },
    renew(ctx, session, now) {
      if (!session.frame) cookie.write(ctx, tokens.mintSession(session, sessionExpiry(session, now)));
    },
    forget: (ctx) => cookie.remove(ctx),
    urlOf(ctx, path, given) {
      const url = `${baseUrl}/choices${path}`;
      const token =
        given?.session.frame && tokens.mintSession(given.session, sessionExpiry(given.session, given.now));
      return keepQuery(token ? `${url}?t=${token}` : url, ctx.query);
    },
  };
}
