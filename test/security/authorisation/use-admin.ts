import { beforeAll } from 'vitest';
import { type TestInstance, useInstance } from '../../support/instances/instance.ts';
import { type Operation, type Prepared, prepare } from './cells.ts';
import { type Credential, signInForLong } from './credentials.ts';
import { createResources, type Resources } from './resources.ts';

/** An instance for the tests of a file, and requests of an administrator about things of their own. */
export function useAdmin(): { instance: TestInstance; prepareOwn(operation: Operation): Promise<Prepared> } {
  let resources: Resources;
  let credential: Credential;
  const instance = useInstance();
  beforeAll(async () => {
    resources = await createResources(instance);
    const { headers } = await signInForLong(instance, 'admin');
    credential = { name: 'an admin', roles: ['admin', 'operator', 'user'], headers };
  });
  return {
    instance,
    prepareOwn: (operation) => prepare({ operation, credential, relation: 'own' }, resources),
  };
}
