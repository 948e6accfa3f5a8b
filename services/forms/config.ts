import type { Settings } from '#lib/config/settings.ts';
import { resolveSignIn, signInSpecs } from '#lib/config/specs.ts';
import { days } from '#lib/config/validators.ts';

/**
 * The settings of this service: its pages say where to sign in (docs/operations.md, "Settings"); a copy of a peer's elements that is older than
 * PEER_STALE_LIMIT is not shown (federation.md, "Sharing content").
 */
export const formsSpecs = { ...signInSpecs, PEER_STALE_LIMIT: days({ default: 30 }) };

/** What pages say of signing in. @param baseUrl the address of the instance. */
export function resolveFormsSettings(
  read: Settings<typeof formsSpecs>,
  baseUrl: string,
): { authUrl: string; publicClient: string | null } {
  const { authUrl, hasPasswordGrant } = resolveSignIn(read, baseUrl);
  return { authUrl, publicClient: hasPasswordGrant ? 'accord' : null };
}
