import { str } from 'envalid';
import type { Settings } from '#lib/config/settings.ts';
import { localesSpecs, mailSpecs, resolveSignIn, signInSpecs } from '#lib/config/specs.ts';
import { flag } from '#lib/config/validators.ts';
import { localesFaults } from '#lib/pages/catalogue-faults.ts';
import type { ClaimPaths } from './domain/token-principal.ts';
import { localesFolder } from './issuer/words.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const authSpecs = {
  ...signInSpecs,
  ...mailSpecs,
  ...localesSpecs,
  OIDC_AUDIENCE: str({ default: undefined }),
  OIDC_ROLE_CLAIM: str({ default: 'roles' }),
  OIDC_SUBJECT_CLAIM: str({ default: 'preferred_username' }),
  SECOND_FACTOR: flag({ default: false }),
};

/** Resolved settings of the service. */
export interface AuthSettings {
  /** Token endpoint, and the issuer's name of the built-in issuer. */
  authUrl: string;
  passwordGrant: boolean;
  /** Every account of the built-in issuer needs a second factor. */
  secondFactor: boolean;
  /** Null without a console. */
  consolePath: string | null;
  /** Whether demo accounts can sign in. */
  demo: boolean;
  /** Folder with messages of the organisation's own (LOCALES_DIR). */
  locales?: string | undefined;
  /** Replaces the built-in issuer (OIDC_ISSUER). */
  outsideIssuer: { issuer: string; audience: string | null; paths: ClaimPaths } | null;
}

/** First path segments that AUTH_URL must not use. */
const taken = new Set(
  'consents transactions records subjects receipts stats user accounts audit keys settings models assets docs system peers federation webhooks console demo internal metrics livez readyz openapi.yaml openapi.json .well-known'.split(
    ' ',
  ),
);

/** Checks settings that must fit each other or a folder. @returns one sentence per fault. */
export function checkAuthSettings(read: Settings<typeof authSpecs>, baseUrl: string | undefined): string[] {
  return [...addressFaults(read, baseUrl), ...localesFaults(read.LOCALES_DIR, 'auth', localesFolder)];
}

function addressFaults(read: Settings<typeof authSpecs>, baseUrl: string | undefined): string[] {
  if (read.OIDC_ISSUER || !read.AUTH_URL) return [];
  const url = new URL(read.AUTH_URL);
  const [, first = ''] = url.pathname.split('/');
  if (!baseUrl) return ['AUTH_URL: requires BASE_URL, because both must have the same origin'];
  if (url.origin !== baseUrl) return [`AUTH_URL: must begin with BASE_URL (${baseUrl})`];
  if (first === '') return ['AUTH_URL: must have a path, such as /auth'];
  return taken.has(first) ? [`AUTH_URL: the path /${first} is taken; choose another one, such as /auth`] : [];
}

/** @param baseUrl URL of the instance, known once it listens. */
export function resolveAuthSettings(
  read: Settings<typeof authSpecs>,
  { baseUrl, demo }: { baseUrl: string; demo: boolean },
): AuthSettings {
  const { authUrl, consolePath } = resolveSignIn(read, baseUrl);
  const paths = { roles: read.OIDC_ROLE_CLAIM, subject: read.OIDC_SUBJECT_CLAIM };
  return {
    authUrl,
    consolePath,
    passwordGrant: read.PASSWORD_GRANT,
    secondFactor: read.SECOND_FACTOR,
    demo,
    locales: read.LOCALES_DIR,
    outsideIssuer: read.OIDC_ISSUER
      ? { issuer: read.OIDC_ISSUER, audience: read.OIDC_AUDIENCE ?? null, paths }
      : null,
  };
}
