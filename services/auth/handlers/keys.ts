import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type PageRequest, sendList } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { createKey, revokeKey } from '../commands/keys.ts';
import type { OwnAddress } from '../commands/own-address.ts';
import { creatableScopes, type KeyedHash, keyHint, pairingKeyDays } from '../domain/api-keys.ts';
import { type ApiKey, listKeys } from '../queries/api-keys.ts';

type Schemas = components['schemas'];

interface Dependencies {
  db: Database;
  keyedHash: KeyedHash;
  baseUrl: string;
  /** Wakes the outbox relay. */
  wake: () => void;
  /** Absent with an outside issuer. */
  ownAddress: Pick<OwnAddress, 'find'> | undefined;
}

const dayMs = 24 * 60 * 60_000;

/** The service's handlers by operationId (openapi.yaml, tag auth). */
export function createHandlers(dependencies: Dependencies) {
  const { db, baseUrl, ownAddress } = dependencies;
  return {
    async getUser(ctx, { principal }) {
      const found = await ownAddress?.find(principal).catch(ignoreOutage);
      ctx.body = { ...presentUser(principal), ...(found?.email && { email: found.email }) };
    },

    async listKeys(ctx, { query }) {
      const find = (page: PageRequest) => listKeys(db, page);
      await sendList(ctx, query, { url: `${baseUrl}/keys`, find, present: presentKey });
    },

    async createKey(ctx, { body, principal }) {
      const { row, key } = await createKey(dependencies, body, principal);
      ctx.status = 201;
      ctx.set('Location', `${baseUrl}/keys/${row.id}`);
      ctx.body = { ...presentKey(row), key };
    },

    async revokeKey(ctx, { params }) {
      await revokeKey(dependencies, params.id);
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}

/** A key's properties without its secret. */
function presentKey(key: ApiKey): Schemas['Key'] {
  const { id, name, scope, elements, createdAt, createdBy, expiresAt, lastAccessAt } = key;
  const lastAccessDate = lastAccessAt ? { lastAccessDate: lastAccessAt.getTime() } : {};
  const limited = elements ? { elements } : {};
  const created = createdAt.getTime();
  const until = scope === 'PEER' ? created + pairingKeyDays * dayMs : expiresAt?.getTime();
  return {
    id,
    name,
    scope,
    ...limited,
    creationDate: created,
    ...lastAccessDate,
    ...(until !== undefined && { expirationDate: until }),
    hint: keyHint(id),
    ...(createdBy !== null && { creator: createdBy }),
  };
}

/** `username`, `admin` and `operator` repeat `name` and `roles` for existing clients. */
function presentUser({ name, roles }: Principal): Schemas['User'] {
  const scopes = creatableScopes(roles);
  return {
    name,
    username: name,
    roles: roles as Schemas['User']['roles'],
    admin: roles.includes('admin'),
    operator: roles.includes('operator'),
    ...(scopes.length > 0 && { keyScopes: scopes }),
  };
}

/** Tokens are judged without the database: only the address is missing then. @throws any other error. */
function ignoreOutage(error: unknown): undefined {
  if (!(error instanceof Failure) || error.code !== 'unavailable') throw error;
}
