import type { Provider } from 'oidc-provider';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import type { Setup } from '../operations/create-setup.ts';
import type { SignIn } from '../operations/create-sign-in.ts';
import type { Pages } from '../pages/create-pages.ts';

/** What the issuer's own pages work with. */
export interface PageParts {
  provider: Provider;
  pages: Pages;
  signIn: SignIn;
  setup: Setup;
  limiter: RateLimiter;
  /** Path of AUTH_URL. */
  issuerPath: string;
}
