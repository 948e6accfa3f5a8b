import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Principal } from '#lib/contracts/principal.ts';

type User = components['schemas']['User'];

/** A caller: `username`, `admin` and `operator` say the same again, as existing clients read it. */
export function presentUser({ name, roles }: Principal): User {
  return {
    name,
    username: name,
    roles: roles as User['roles'],
    admin: roles.includes('admin'),
    operator: roles.includes('operator'),
  };
}
