import type { Settings } from '#lib/config/read-settings.ts';
import { resolveSignIn, signInSpecs } from '#lib/config/sign-in-specs.ts';

/** The settings of this service: its pages say where to sign in (decisions.md §12). */
export const formsSpecs = signInSpecs;

/** What pages say of signing in. @param baseUrl the address of the instance. */
export function resolveFormsSettings(
  read: Settings<typeof formsSpecs>,
  baseUrl: string,
): { authUrl: string; publicClient: string | null } {
  const { authUrl, hasPasswordGrant } = resolveSignIn(read, baseUrl);
  return { authUrl, publicClient: hasPasswordGrant ? 'accord' : null };
}
