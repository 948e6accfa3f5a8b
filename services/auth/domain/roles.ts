import type { Role } from '#lib/contracts/principal.ts';

/** Roles that a person or a program can be given. */
export type GivenRole = 'admin' | 'operator' | 'user';

const implied: Record<GivenRole, readonly GivenRole[]> = {
  admin: ['admin', 'operator', 'user'],
  operator: ['operator', 'user'],
  user: ['user'],
};

/** True for the name of a role that can be given. */
export function isGivenRole(text: unknown): text is GivenRole {
  return typeof text === 'string' && Object.hasOwn(implied, text);
}

/** All roles that the given ones bring: admin ⊃ operator ⊃ user (docs/interface.md, "Credentials"). Others, `key` among them, cannot be given. */
export function withImpliedRoles(given: readonly unknown[]): Role[] {
  return [...new Set(given.filter(isGivenRole).flatMap((role) => implied[role]))];
}
