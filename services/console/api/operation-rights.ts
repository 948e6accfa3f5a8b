import type { Document } from 'openapi-backend';
import type { OperationId } from './api-types.ts';

/**
 * Reads from `x-roles` of the contract which operations a person may call on every resource.
 * @returns whether one of the roles may call an operation.
 */
export function operationRights(
  document: Document,
): (roles: readonly string[], operation: OperationId) => boolean {
  const allowed = new Map<string, Readonly<Record<string, string>>>();
  for (const item of Object.values(document.paths ?? {})) {
    const operations = Object.values(item as object) as {
      operationId?: string;
      'x-roles'?: Record<string, string>;
    }[];
    for (const { operationId, 'x-roles': roles = {} } of operations) {
      if (operationId) allowed.set(operationId, roles);
    }
  }
  return (roles, operation) => {
    const rights = allowed.get(operation);
    if (!rights) throw new Error(`openapi.yaml has no operation ${operation}`);
    return roles.some((role) => role in rights);
  };
}
