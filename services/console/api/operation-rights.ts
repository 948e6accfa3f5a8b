import type { Document } from 'openapi-backend';
import type { OperationId } from './api-types.ts';

/** Which people may call the operations of the contract, by `x-roles`. */
export interface OperationRights {
  /** Whether one of the roles may call an operation, on every resource or on some. */
  mayCall(roles: readonly string[], operation: OperationId): boolean;
  /** The roles of the console that may call it; none if the person has one of them. */
  lackingRoles(roles: readonly string[], operation: OperationId): readonly string[];
}

/** Roles with which people use the console. */
const consoleRoles = ['admin', 'operator'];

export function operationRights(document: Document): OperationRights {
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
  const rightsOf = (operation: OperationId) => {
    const rights = allowed.get(operation);
    if (!rights) throw new Error(`openapi.yaml has no operation ${operation}`);
    return rights;
  };
  const mayCall: OperationRights['mayCall'] = (roles, operation) =>
    roles.some((role) => role in rightsOf(operation));
  return {
    mayCall,
    lackingRoles: (roles, operation) =>
      mayCall(roles, operation) ? [] : consoleRoles.filter((role) => role in rightsOf(operation)),
  };
}
