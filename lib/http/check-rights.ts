import type { Principal, Role } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { ContractOperation } from '#lib/http/operation.ts';

/**
 * Deny by default: a principal may use an operation if one of its roles stands in the operation's `x-roles`.
 * Whether a thing is the principal's own is for the domain to check.
 * @throws Failure `unauthorized` without credentials, `forbidden` with them.
 */
export function checkRights(operation: ContractOperation, principal: Principal): void {
  const allowed = operation['x-roles'];
  if (allowed.anonymous || principal.roles.some((role: Role) => allowed[role])) return;
  if (principal.roles.includes('anonymous'))
    throw fail('unauthorized', 'This needs credentials.', {
      headers: { 'WWW-Authenticate': 'Bearer realm="accord"' },
    });
  throw fail('forbidden', 'Your credentials do not allow this.');
}
