import type { Provider } from 'oidc-provider';
import type { GuessGuard } from '../operations/create-guess-guard.ts';
import type { Setup } from '../operations/create-setup.ts';
import type { SignIn } from '../operations/create-sign-in.ts';
import type { Pages } from '../pages/create-pages.ts';

/** What the issuer's own pages work with. */
export interface PageParts {
  provider: Provider;
  pages: Pages;
  signIn: SignIn;
  setup: Setup;
  guess: GuessGuard;
  /** Path of AUTH_URL. */
  issuerPath: string;
}
