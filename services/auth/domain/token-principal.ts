import type { JWTPayload } from 'jose';
import type { Principal } from '#lib/contracts/principal.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { canStandInPath } from '#lib/text/host-name.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { withImpliedRoles } from './accounts.ts';

/** Claims that hold roles and subject: names or dotted paths (OIDC_ROLE_CLAIM, OIDC_SUBJECT_CLAIM). */
export interface ClaimPaths {
  roles: string;
  subject: string;
}

const maxSubject = 1_024;

/** The principal of a verified access token. Unknown roles are dropped. */
export function tokenPrincipal(claims: JWTPayload, paths: ClaimPaths): Principal {
  const subject = readSubject(claimAt(claims, paths.subject));
  const actor = String(claims.sub ?? claims.client_id ?? '');
  return {
    roles: withImpliedRoles(readRoles(claimAt(claims, paths.roles))),
    name: subject ?? actor,
    subject,
    account: `user:${actor}`,
    ...verifiedContact(claims),
    ...(typeof claims.auth_time === 'number' ? { signedInAt: claims.auth_time } : {}),
  };
}

/** The standard claims of contact data, if the issuer says that it has verified them (OIDC Core §5.1). */
function verifiedContact(claims: JWTPayload): Pick<Principal, 'emailAddress' | 'phoneNumber'> {
  const { email, email_verified, phone_number, phone_number_verified } = claims;
  // Some issuers send the text "true".
  const isVerified = (claim: unknown) => claim === true || claim === 'true';
  return {
    ...(typeof email === 'string' && isVerified(email_verified) && { emailAddress: email }),
    ...(typeof phone_number === 'string' &&
      isVerified(phone_number_verified) && { phoneNumber: phone_number }),
  };
}

/** Reads a claim by its literal name, else by its path (`realm_access.roles`). */
function claimAt(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  return path.split('.').reduce<unknown>((value, name) => {
    const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return inside ? (value as Record<string, unknown>)[name] : undefined;
  }, claims);
}

/** An array, or one text separated by spaces or commas. */
function readRoles(claim: unknown): unknown[] {
  if (typeof claim === 'string') return claim.split(/[\s,]+/);
  return Array.isArray(claim) ? claim : [];
}

/** Normalises and checks like every subject (docs/interface.md, "Terms"). */
function readSubject(claim: unknown): string | undefined {
  if (typeof claim !== 'string' || !isStorable(claim)) return undefined;
  const name = readBoundedText(claim, maxSubject);
  return name && canStandInPath(name) ? name : undefined;
}
