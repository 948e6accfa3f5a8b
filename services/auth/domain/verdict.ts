import type { Principal } from '#lib/auth/principal.ts';

/** What one credential is worth. */
export type KeyVerdict =
  | { valid: true; principal: Principal }
  /** Unknown, revoked, or of a scope that calls nothing. */
  | { valid: false };

export type TokenVerdict =
  | { valid: true; principal: Principal }
  /** Malformed, expired, of another issuer, meant for others. */
  | { valid: false }
  /** Nobody can say now: its issuer cannot be reached. */
  | { valid: 'unknown'; cause: unknown };
