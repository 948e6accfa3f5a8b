import type { Document } from 'openapi-backend';
import { givenRoles } from '#lib/contracts/principal.ts';
import type { OperationId } from './api-types.ts';

/** Which people may call the operations of the contract, by `x-roles`. */
export interface OperationRights {
  /** Whether a role of the console may call an operation, on every resource or on some. */
  mayCall(roles: readonly string[], operation: OperationId): boolean;
  /** Whether the person may call it only to read: its responses have no link that is meant for a subject. */
  onlyReads(roles: readonly string[], operation: OperationId): boolean;
  /** The roles of the console that may call it; none if the person has one of them. */
  lackingRoles(roles: readonly string[], operation: OperationId): readonly string[];
}

/** Roles with which people use the console: all but that of a person who only answers. */
const consoleRoles: readonly string[] = givenRoles.filter((role) => role !== 'user');

/** The roles of a person as the console names them: an administrator is nothing else. */
export function shownRoles(roles: readonly string[]): readonly string[] {
  return roles.includes('admin') ? ['admin'] : consoleRoles.filter((role) => roles.includes(role));
}

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
  const reachesOf = (roles: readonly string[], operation: OperationId) =>
    consoleRoles.filter((role) => roles.includes(role)).flatMap((role) => rightsOf(operation)[role] ?? []);
  const mayCall: OperationRights['mayCall'] = (roles, operation) => reachesOf(roles, operation).length > 0;
  return {
    mayCall,
    onlyReads(roles, operation) {
      const reaches = reachesOf(roles, operation);
      return reaches.includes('read') && !reaches.includes('any');
    },
    lackingRoles: (roles, operation) =>
      mayCall(roles, operation) ? [] : consoleRoles.filter((role) => role in rightsOf(operation)),
  };
}
