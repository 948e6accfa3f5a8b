import type { Settings } from '#lib/config/settings.ts';
import { localesSpecs, resolveSignIn, signInSpecs } from '#lib/config/specs.ts';
import { days } from '#lib/config/validators.ts';
import { localesFaults } from '#lib/pages/catalogue-faults.ts';
import { localesFolder } from './pages/words.ts';

/**
 * The settings of this service: where pages send people to sign in (docs/operations.md, "Settings"), and the
 * age in days at which a copy of a peer's elements is no longer shown (docs/federation.md, "How the copy is
 * kept").
 */
export const formsSpecs = { ...signInSpecs, ...localesSpecs, PEER_STALE_LIMIT: days({ default: 30 }) };

/** @returns one sentence per fault of the messages that the organisation has of its own. */
export function checkFormsSettings({ LOCALES_DIR }: Settings<typeof formsSpecs>): string[] {
  return localesFaults(LOCALES_DIR, 'forms', localesFolder);
}

/** The OpenID Connect issuer whose tokens the instance accepts. */
export interface Issuer {
  url: string;
  /** Whether the service auth is the issuer. */
  builtIn: boolean;
}

/**
 * How to sign in, as pages and GET /system/config describe it.
 * @param baseUrl the URL of the instance.
 */
export function resolveFormsSettings(
  read: Settings<typeof formsSpecs>,
  baseUrl: string,
): { authUrl: string; publicClient: string | null; issuer: Issuer; consolePath: string | null } {
  const { authUrl, hasPasswordGrant, consolePath } = resolveSignIn(read, baseUrl);
  return {
    authUrl,
    consolePath,
    publicClient: hasPasswordGrant ? 'accord' : null,
    issuer: { url: read.OIDC_ISSUER ?? authUrl, builtIn: !read.OIDC_ISSUER },
  };
}
