import { str } from 'envalid';
import type { Settings } from '#lib/config/read-settings.ts';
import { resolveSignIn, signInSpecs } from '#lib/config/sign-in-specs.ts';
import type { ClaimPaths } from './domain/token-principal.ts';

/** The settings of this service (docs/operations.md, "Settings"). */
export const authSpecs = {
  ...signInSpecs,
  OIDC_AUDIENCE: str({ default: undefined }),
  OIDC_ROLE_CLAIM: str({ default: 'roles' }),
  OIDC_SUBJECT_CLAIM: str({ default: 'preferred_username' }),
};

/** What the service goes by. */
export interface AuthSettings {
  /** Where people and programs get tokens; of the built-in issuer it is the name, too. */
  authUrl: string;
  passwordGrant: boolean;
  /** Whether the accounts of the demonstration can sign in. */
  demo: boolean;
  /** INSTANCE_LANGUAGE */
  defaultLanguage: string;
  /** OIDC_ISSUER: then there is no built-in issuer. */
  outsideIssuer: { issuer: string; audience: string | null; paths: ClaimPaths } | null;
}

/** First segments of paths that are served by others, or are no place for an issuer. */
const taken = new Set(
  'consents transactions records subjects receipts stats user keys models assets docs system peers federation webhooks console demo internal metrics livez readyz openapi.yaml openapi.json .well-known'.split(' '),
); // biome-ignore format: one glance

/**
 * Rules over several settings.
 * @returns one sentence per fault.
 */
export function checkAuthSettings(read: Settings<typeof authSpecs>, baseUrl: string | undefined): string[] {
  if (read.OIDC_ISSUER || !read.AUTH_URL) return [];
  const url = new URL(read.AUTH_URL);
  const [, first = ''] = url.pathname.split('/');
  if (!baseUrl) return ['AUTH_URL: needs BASE_URL beside it, because both must have the same origin'];
  if (url.origin !== baseUrl)
    return [`AUTH_URL: must begin with BASE_URL (${baseUrl}); the built-in issuer has no address of its own`];
  if (first === '') return ['AUTH_URL: must have a path, such as /auth; the root belongs to the first page'];
  return taken.has(first)
    ? [`AUTH_URL: /${first} is the address of something else; take another path, such as /auth`]
    : [];
}

/** The settings that the service goes by. @param baseUrl the address of the instance, known when it listens. */
export function resolveAuthSettings(
  read: Settings<typeof authSpecs>,
  { baseUrl, demo, defaultLanguage }: { baseUrl: string; demo: boolean; defaultLanguage: string },
): AuthSettings {
  const paths = { roles: read.OIDC_ROLE_CLAIM, subject: read.OIDC_SUBJECT_CLAIM };
  return {
    authUrl: resolveSignIn(read, baseUrl).authUrl,
    passwordGrant: read.PASSWORD_GRANT,
    demo,
    defaultLanguage,
    outsideIssuer: read.OIDC_ISSUER
      ? { issuer: read.OIDC_ISSUER, audience: read.OIDC_AUDIENCE ?? null, paths }
      : null,
  };
}
