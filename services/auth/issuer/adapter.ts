import { type Adapter, type AdapterPayload, type ClientMetadata, errors } from 'oidc-provider';
import type { Database } from '#lib/db/database.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { type ClientRow, findClient } from '../queries/clients.ts';
import * as items from '../queries/issuer-items.ts';
import { type ConsoleClient, consoleClientId } from './console-client.ts';

/** Built-in public clients, for existing integrations and command line tools. */
const publicClients: readonly string[] = ['accord', 'cmclient'];

/** Ids that cannot be registered. */
export const builtInClients: readonly string[] = [...publicClients, consoleClientId];

/** Whether a text is a valid client id. */
export function isClientId(text: string): boolean {
  return /^[0-9A-Za-z._-]{1,64}$/.test(text);
}

/** Redirect URIs of local tools, on any port (RFC 8252 §7.3). */
const loopbackUris = ['http://127.0.0.1/callback', 'http://[::1]/callback', 'http://localhost/callback'];

const common = {
  // Not form_post: its page needs an inline script.
  response_modes: ['query'],
  id_token_signed_response_alg: 'ES256',
} as const;

/** The metadata of a public client (OpenID Connect Registration §2). */
function publicClient(id: string, passwordGrant: boolean): ClientMetadata {
  return {
    ...common,
    client_id: id,
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    grant_types: passwordGrant ? ['authorization_code', 'password'] : ['authorization_code'],
    response_types: ['code'],
    redirect_uris: loopbackUris,
  };
}

/**
 * The metadata of a registered client. `client_secret` holds the stored hash, which compareClientSecret
 * reads.
 */
function storedClient({ id, role, secretHash, redirectUris }: ClientRow): ClientMetadata {
  const signsIn = redirectUris.length > 0;
  return {
    ...common,
    client_id: id,
    ...(secretHash
      ? { client_secret: secretHash.toString('base64url'), token_endpoint_auth_method: 'client_secret_basic' }
      : { token_endpoint_auth_method: 'none' }),
    application_type: 'web',
    grant_types: [...(signsIn ? ['authorization_code'] : []), ...(role ? ['client_credentials'] : [])],
    response_types: signsIn ? ['code'] : [],
    redirect_uris: redirectUris,
    ...(role ? { role } : {}),
  };
}

/** Stores oidc-provider's models in this service's schema; clients are read from their own table. */
export function createAdapter({ db, ...clients }: { db: Database } & BuiltInClients) {
  return (model: string): Adapter =>
    model === 'Client' ? clientAdapter(db, clients) : itemAdapter(db, model);
}

interface BuiltInClients {
  /** Whether the public ones may use the password grant. */
  passwordGrant: boolean;
  consoleClient: ConsoleClient;
}

function itemAdapter(db: Database, model: string): Adapter {
  const present = (payload: items.ItemPayload | undefined) => payload as AdapterPayload | undefined;
  return {
    upsert: (id, payload, ttlSeconds = 0) =>
      items.upsertItem(db, { model, id, payload: payload as items.ItemPayload, ttlSeconds }),
    // PostgreSQL cannot store NUL, so no item has such an id.
    find: async (id) => (isStorable(id) ? present(await items.findItem(db, model, id)) : undefined),
    findByUid: async (uid) => present(await items.findItemByUid(db, model, uid)),
    findByUserCode: async () => undefined,
    async consume(id) {
      if (await items.consumeItem(db, model, id)) return;
      // Of concurrent uses of a refresh token one may be a thief's.
      if (model === 'RefreshToken') await items.deleteGrantOfItem(db, model, id);
      throw new errors.InvalidGrant('already used');
    },
    destroy: (id) => items.deleteItem(db, model, id),
    revokeByGrantId: (grantId) => items.deleteItemsOfGrant(db, grantId),
  };
}

function clientAdapter(db: Database, { passwordGrant, consoleClient }: BuiltInClients): Adapter {
  const refuse = () => Promise.reject(new Error('the issuer cannot change clients'));
  return {
    async find(id) {
      if (id === consoleClientId) return consoleClient.metadata;
      if (publicClients.includes(id)) return publicClient(id, passwordGrant);
      if (!isClientId(id)) return undefined;
      const row = await findClient(db, id);
      return row && storedClient(row);
    },
    upsert: refuse,
    findByUid: refuse,
    findByUserCode: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
  };
}
