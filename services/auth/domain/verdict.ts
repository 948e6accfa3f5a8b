import type { Principal } from '#lib/contracts/principal.ts';

/** What an API key is worth. */
export type KeyVerdict =
  | { valid: true; principal: Principal }
  /** Unknown, revoked, or meant for one pairing and used or too old. */
  | { valid: false };

/** What an access token is worth. */
export type TokenVerdict =
  | { valid: true; principal: Principal }
  /** Malformed, expired, of another issuer, meant for others. */
  | { valid: false }
  /** Nobody can say now: its issuer cannot be reached. */
  | { valid: 'unknown'; cause: unknown };
