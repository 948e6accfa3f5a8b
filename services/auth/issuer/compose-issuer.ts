import type { ProblemCode } from '#lib/errors/fail.ts';
import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import type { AuthOptions } from '../auth-options.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import { createPasswordVerifier } from '../domain/password.ts';
import { createAccountDirectory } from '../operations/create-account-directory.ts';
import { createGuessGuard } from '../operations/create-guess-guard.ts';
import { createSetup } from '../operations/create-setup.ts';
import { createSignIn } from '../operations/create-sign-in.ts';
import { createPages } from '../pages/create-pages.ts';
import { type MountedIssuer, mountIssuer } from './mount-issuer.ts';

/** The built-in issuer, composed. */
export interface Issuer extends MountedIssuer {
  /** Path of AUTH_URL. */
  path: string;
  renderErrorPage: RenderErrorPage;
  /** A link for the first administrator; none in demo mode, where everybody can sign in. */
  openSetupLink(): Promise<string | undefined>;
}

/** What a page says of our own failures; the rest is that the browser sent something strange. */
const errorTexts: Partial<Record<ProblemCode, string>> = {
  'not-found': 'error.notFound',
  'method-not-allowed': 'error.notFound',
  unauthorized: 'error.denied',
  forbidden: 'error.denied',
  'too-many-requests': 'error.tooMany',
  unavailable: 'error.failed',
  internal: 'error.failed',
};

/** Composes the built-in issuer. */
export async function composeIssuer(options: AuthOptions & { keyedHash: KeyedHash }): Promise<Issuer> {
  const { db, instance, limiter, settings, secrets, keyedHash, log } = options;
  const accounts = await createAccountDirectory({ db, demo: settings.demo });
  const signIn = createSignIn({ db, accounts, passwords: await createPasswordVerifier(), keyedHash });
  const setup = createSetup({ db });
  const guess = createGuessGuard({ limiter });
  const path = new URL(settings.authUrl).pathname;
  const pages = createPages({
    issuerPath: path,
    instanceName: instance.name,
    defaultLanguage: settings.defaultLanguage,
  });
  const mounted = mountIssuer({
    ...{ db, accounts, signIn, setup, keyedHash, guess, limiter, pages, log },
    signingKeys: secrets.issuerSigning,
    cookieKeys: secrets.issuerCookies,
    settings: {
      baseUrl: instance.baseUrl,
      authUrl: settings.authUrl,
      passwordGrant: settings.passwordGrant,
    },
  });
  const renderErrorPage: RenderErrorPage = async (ctx, { code }) => ({
    html: pages.render(ctx, 'error', { text: errorTexts[code] ?? 'error.malformed', code }),
  });
  return {
    ...mounted,
    path,
    renderErrorPage,
    async openSetupLink() {
      const token = settings.demo ? undefined : await setup.openLink();
      return token && `${settings.authUrl}/setup?token=${token}`;
    },
  };
}
