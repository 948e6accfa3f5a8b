import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ApiKey } from '../queries/api-keys.ts';

/** A key without the key itself. */
export function presentKey({
  id,
  name,
  scope,
  createdAt,
  lastAccessAt,
}: ApiKey): components['schemas']['Key'] {
  return {
    id,
    name,
    scope,
    creationDate: createdAt.getTime(),
    ...(lastAccessAt ? { lastAccessDate: lastAccessAt.getTime() } : {}),
  };
}
