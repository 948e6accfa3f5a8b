import type { Handlers } from '#lib/http/operation.ts';
import { createKeyHandler } from './create-key.ts';
import type { Dependencies } from './dependencies.ts';
import { getUserHandler } from './get-user.ts';
import { listKeysHandler } from './list-keys.ts';
import { revokeKeyHandler } from './revoke-key.ts';

/** The service's handlers by operationId (openapi.yaml, tag auth). */
export function createHandlers(dependencies: Dependencies): Handlers {
  return {
    getUser: getUserHandler(),
    listKeys: listKeysHandler(dependencies),
    createKey: createKeyHandler(dependencies),
    revokeKey: revokeKeyHandler(dependencies),
  };
}
