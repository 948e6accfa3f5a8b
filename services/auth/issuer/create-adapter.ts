import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import type { Database } from '#lib/db/database.ts';
import { isClientId, publicClients } from '../domain/public-clients.ts';
import { findClient } from '../queries/clients.ts';
import * as items from '../queries/issuer-items.ts';
import { publicClient, storedClient } from './clients.ts';

/** Keeps what oidc-provider keeps in this service's schema; clients come from their own table. */
export function createAdapter({ db, passwordGrant }: { db: Database; passwordGrant: boolean }) {
  return (model: string): Adapter =>
    model === 'Client' ? clientAdapter(db, passwordGrant) : itemAdapter(db, model);
}

function itemAdapter(db: Database, model: string): Adapter {
  const present = (payload: items.ItemPayload | undefined) => payload as AdapterPayload | undefined;
  return {
    upsert: (id, payload, ttlSeconds = 0) =>
      items.upsertItem(db, { model, id, payload: payload as items.ItemPayload, ttlSeconds }),
    // No item has an id with a NUL, which PostgreSQL's text does not store.
    find: async (id) => (id.includes('\0') ? undefined : present(await items.findItem(db, model, id))),
    findByUid: async (uid) => present(await items.findItemByUid(db, model, uid)),
    findByUserCode: async () => undefined,
    async consume(id) {
      if (!(await items.consumeItem(db, model, id))) throw new errors.InvalidGrant('already used');
    },
    destroy: (id) => items.deleteItem(db, model, id),
    revokeByGrantId: (grantId) => items.deleteItemsOfGrant(db, grantId),
  };
}

function clientAdapter(db: Database, passwordGrant: boolean): Adapter {
  const refuse = () => Promise.reject(new Error('clients are not made here'));
  return {
    async find(id) {
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
