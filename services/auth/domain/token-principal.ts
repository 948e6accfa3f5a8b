import type { JWTPayload } from 'jose';
import type { Principal } from '#lib/contracts/principal.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { withImpliedRoles } from './roles.ts';

/** Where in a token roles and subject are: names of claims, dotted paths are allowed (docs/operations.md, "Settings"). */
export interface ClaimPaths {
  roles: string;
  subject: string;
}

const maxSubject = 1_024;

/** The principal that a verified access token speaks for; without a known role it may do nothing that needs one. */
export function tokenPrincipal(claims: JWTPayload, paths: ClaimPaths): Principal {
  const subject = readSubject(claimAt(claims, paths.subject));
  const actor = String(claims.sub ?? claims.client_id ?? '');
  return {
    roles: withImpliedRoles(readRoles(claimAt(claims, paths.roles))),
    name: subject ?? actor,
    subject,
    account: `user:${actor}`,
  };
}

/** A claim by its name as it is written, else by its path (`realm_access.roles`). */
function claimAt(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, name) => {
    const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return inside ? (value as Record<string, unknown>)[name] : undefined;
  }, claims);
}

/** A list, or names in one text as scopes are. */
function readRoles(claim: unknown): unknown[] {
  if (typeof claim === 'string') return claim.split(/[\s,]+/);
  return Array.isArray(claim) ? claim : [];
}

/** As any subject: NFC, trimmed, 1 to 1,024 characters (docs/interface.md, "Terms"). */
function readSubject(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || !claim.isWellFormed()) return undefined;
  return readBoundedText(claim, maxSubject) || undefined;
}
