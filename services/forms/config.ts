import type { Settings } from '#lib/config/settings.ts';
import { resolveSignIn, signInSpecs } from '#lib/config/specs.ts';
import { days } from '#lib/config/validators.ts';

/**
 * The settings of this service: where pages send people to sign in (docs/operations.md, "Settings"), and the
 * age in days at which a copy of a peer's elements is no longer shown (docs/federation.md, "How the copy is
 * kept").
 */
export const formsSpecs = { ...signInSpecs, PEER_STALE_LIMIT: days({ default: 30 }) };

/**
 * How to sign in, as pages describe it.
 * @param baseUrl the URL of the instance.
 */
export function resolveFormsSettings(
  read: Settings<typeof formsSpecs>,
  baseUrl: string,
): { authUrl: string; publicClient: string | null } {
  const { authUrl, hasPasswordGrant } = resolveSignIn(read, baseUrl);
  return { authUrl, publicClient: hasPasswordGrant ? 'accord' : null };
}
