import type Koa from 'koa';
import type { Middleware } from 'koa';
import mount from 'koa-mount';
import { Failure, type ProblemCode } from '#lib/errors/fail.ts';
import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import { type ChangePassword, createChangePassword } from '../commands/change-password.ts';
import { createOwnAddress, type OwnAddress } from '../commands/own-address.ts';
import type { AuthOptions } from '../compose.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import { createPasswordVerifier } from '../domain/password.ts';
import { type AccountMails, createAccountMails } from '../mails/account-mails.ts';
import { createMailWriter } from '../mails/write-mail.ts';
import { createForgottenPassword } from '../operations/forgotten-password.ts';
import { createGuessGuard } from '../operations/guess-guard.ts';
import { createPasswordCheck } from '../operations/password-check.ts';
import { createSecondFactor } from '../operations/second-factor.ts';
import { createSetup } from '../operations/setup.ts';
import { createAccountDirectory, createSignIn } from '../operations/sign-in.ts';
import { createConsoleClient } from './console-client.ts';
import { issuerRoutes, renderIssuerError } from './pages.ts';
import { createProvider } from './provider.ts';
import { createPages } from './render-pages.ts';
import { guardAuthorization, issuerPaths } from './request-guards.ts';
import { clientEndpoints, tokenPaths } from './token-endpoint.ts';
import { loadWords } from './words.ts';

/** The built-in issuer. */
export interface Issuer {
  /** Path of AUTH_URL. */
  path: string;
  renderErrorPage: RenderErrorPage;
  /** Creates a link for the first administrator; undefined in demo mode or if an account exists. */
  openSetupLink(): Promise<string | undefined>;
  /** The page on which a person chooses a password. @param token of an invitation. */
  linkOf(token: string): string;
  changePassword: ChangePassword;
  ownAddress: OwnAddress;
  /** Null without a mail server. */
  mails: AccountMails | null;
  /** Runs before admission: checks the path, reads the body and limits failed credentials. */
  intake: Middleware[];
  /** Pages, and oidc-provider below AUTH_URL. */
  middleware: Middleware[];
  /** Configures the Koa application for oidc-provider. */
  prepare(app: Koa): void;
}

/** Locale keys of error pages; `error.malformed` for all others. */
const errorTexts: Partial<Record<ProblemCode, string>> = {
  'not-found': 'error.notFound',
  'method-not-allowed': 'error.notFound',
  unauthorized: 'error.denied',
  forbidden: 'error.denied',
  'too-many-requests': 'error.tooMany',
  unavailable: 'error.failed',
  internal: 'error.failed',
};

/** Builds and wires the built-in issuer. */
export async function composeIssuer(options: AuthOptions & { keyedHash: KeyedHash }): Promise<Issuer> {
  const { db, instance, limiter, settings, secrets, keyedHash, log } = options;
  const { demo, authUrl, passwordGrant, consolePath } = settings;
  const issuerPath = new URL(authUrl).pathname;
  const accounts = await createAccountDirectory({ db, demo });
  const passwords = await createPasswordVerifier();
  const check = createPasswordCheck({ db, accounts, passwords, keyedHash });
  const { keyPepper: keys } = secrets;
  const secondFactor = createSecondFactor({ db, keyedHash, keys, isRequired: settings.secondFactor });
  const signIn = createSignIn({ db, check, secondFactor });
  const setup = createSetup({ db });
  const guess = createGuessGuard({ limiter });
  const linkOf = (token: string) => `${authUrl}/setup?token=${token}`;
  const { transport = null } = options;
  const words = loadWords(settings.locales);
  const write = createMailWriter(instance, words);
  const { metrics, tracing } = options;
  const mails =
    transport &&
    createAccountMails({ db, transport, instance, write, keys, keyedHash, log, metrics, tracing });
  const addressLink = (token: string) => `${authUrl}/address?token=${token}`;
  const ownAddress = createOwnAddress({ db, accounts, mails, linkOf: addressLink, keys });
  const pages = createPages({ issuerPath, instance, consolePath, words });
  const provider = createProvider({
    db,
    accounts,
    signIn,
    keyedHash,
    consoleClient: createConsoleClient({ baseUrl: instance.baseUrl, secrets: secrets.consoleClient }),
    signingKeys: secrets.issuerSigning,
    cookieKeys: secrets.issuerCookies,
    settings: { baseUrl: instance.baseUrl, authUrl, passwordGrant },
    renderError: renderIssuerError(pages),
  });
  provider.on('server_error', (ctx, error) => {
    log.error('issuer failed to process a request', { requestId: ctx.state.requestId, error });
    if (!(error instanceof Failure) || error.code !== 'unavailable') return;
    ctx.status = 503;
    ctx.set('Retry-After', '1');
    if (ctx.type === 'application/json') ctx.body = { error: 'temporarily_unavailable' };
  });
  const isTokenEndpoint = tokenPaths(issuerPath);
  return {
    path: issuerPath,
    linkOf,
    changePassword: createChangePassword({ db, accounts, check, guess }),
    ownAddress,
    mails,
    intake: [
      issuerPaths({ issuerPath, isTokenEndpoint, stylesheet: pages.stylesheet.path }),
      clientEndpoints({ issuerPath, isTokenEndpoint, guess }),
    ],
    middleware: [
      issuerRoutes({
        provider,
        pages,
        signIn,
        accounts,
        setup,
        guess,
        forget: mails && createForgottenPassword({ db, mails, linkOf, log }),
        ownAddress,
        secondFactor,
        instance,
        ticketKeys: secrets.issuerCookies,
        issuerPath,
        consolePath,
      }),
      guardAuthorization({ issuerPath, pages, limiter }),
      disableIssuerCors,
      mount(issuerPath, provider),
    ],
    prepare(app) {
      app.keys = provider.keys as string[];
      pinOrigin(app, new URL(authUrl));
    },
    renderErrorPage: async (ctx, { code }) => ({
      html: pages.render(ctx, 'error', { text: errorTexts[code] ?? 'error.malformed', code }),
    }),
    async openSetupLink() {
      const token = demo ? undefined : await setup.openFirstLink();
      return token && linkOf(token);
    },
  };
}

/** oidc-provider skips its own CORS rules if a CORS header is set. */
const disableIssuerCors: Middleware = (ctx, next) => {
  if (!ctx.response.get('Access-Control-Expose-Headers'))
    ctx.set('Access-Control-Expose-Headers', 'Retry-After');
  return next();
};

/**
 * oidc-provider derives URLs and secure cookies from the request's origin; this makes it AUTH_URL's, whatever
 * Host says.
 */
function pinOrigin(app: Koa, url: URL): void {
  Object.defineProperties(app.request, {
    origin: { get: () => url.origin },
    protocol: { get: () => url.protocol.slice(0, -1) },
    secure: { get: () => url.protocol === 'https:' },
    host: { get: () => url.host },
    hostname: { get: () => url.hostname },
  });
}
