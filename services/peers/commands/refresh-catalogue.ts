import { setImmediate as others } from 'node:timers/promises';
import type { CataloguePeer, FormsOperations, PeerEntry } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { readCatalogue } from '../client/read-catalogue.ts';
import { readSharedDocument } from '../domain/read-shared-document.ts';
import { type CatalogueKeys, readCatalogueKeys } from '../queries/catalogues.ts';

/** What refreshing a copy takes. */
export interface CatalogueParts {
  db: Database;
  client: Pick<PeerClient, 'send'>;
  forms: Pick<FormsOperations, 'storePeerEntries' | 'finishPeerCatalogue' | 'forgetPeer'>;
  /** Asks a peer for its keys anew, at most once a minute. @returns whether it was asked. */
  lookAgain: (url: string) => Promise<boolean>;
  log: Logger;
}

/** So much goes to forms in one call: it looks at every character. */
const mostCharacters = 2 ** 20;

/**
 * Makes our copy of a peer's catalogue as the peer has it now. Documents that are not the peer's are left out and logged.
 * @param known the state that the copy has. @param asOf when this began.
 * @returns the state that the copy has then. @throws Failure `unavailable`.
 */
export async function refreshCatalogue(
  parts: CatalogueParts,
  { url, known, asOf, signal }: { url: string; known: string | null; asOf: Date; signal: AbortSignal },
): Promise<string> {
  const { client, forms, log } = parts;
  const store = await createStore(parts, url);
  const reading = await readCatalogue({ client, url, known, take: store, signal });
  if (reading.cut) log.error('the catalogue of a peer has no end and was cut', { id: url });
  const { state } = reading;
  const { held } = await forms.finishPeerCatalogue({ url, state, asOf: asOf.toISOString() });
  if (held) return state;
  if (known === null) throw fail('unavailable', 'The copy was changed by somebody else meanwhile.');
  return refreshCatalogue(parts, { url, known: null, asOf, signal });
}

/** Checks documents page by page and hands what they hold to forms. */
async function createStore(parts: CatalogueParts, url: string) {
  const { forms, log } = parts;
  const verify = await createVerifier(parts, url);
  let seen = { state: '', keys: new Set<unknown>() };
  return async (documents: readonly string[], state: string): Promise<void> => {
    // Another state is another beginning.
    if (seen.state !== state) seen = { state, keys: new Set() };
    let batch: PeerEntry[] = [];
    let characters = 0;
    const send = async () => {
      await forms.storePeerEntries({ peer: verify.peer(), state, entries: batch });
      batch = [];
      characters = 0;
    };
    for (const jws of documents) {
      const entry = await verify.read(jws);
      if (!entry) continue;
      if (seen.keys.has(entry.key)) {
        log.warn('a peer shares two entries of one key; the second is left out', { id: url });
        continue;
      }
      seen.keys.add(entry.key);
      if (batch.length > 0 && characters + jws.length > mostCharacters) await send();
      batch.push(entry);
      characters += jws.length;
    }
    // Also without any: forms must know that this state is on its way.
    await send();
  };
}

async function createVerifier({ db, lookAgain, log }: CatalogueParts, url: string) {
  let keys = await readKeys(db, url);
  return {
    peer: (): CataloguePeer => ({
      url,
      name: keys.name,
      sealingKey: keys.sealing as Record<string, unknown>,
    }),
    /** Undefined if it is not the peer's document. */
    async read(jws: string): Promise<PeerEntry | undefined> {
      let read = await readSharedDocument(jws, { url, signing: keys.signing });
      if (!read.valid && read.fault === 'unknown-key' && (await lookAgain(url))) {
        keys = await readKeys(db, url);
        read = await readSharedDocument(jws, { url, signing: keys.signing });
      }
      // A long document takes long, and others wait meanwhile.
      await others();
      if (read.valid) return read.entry;
      log.warn('a document of a peer is not signed as it should be and is left out', {
        id: url,
        code: read.fault,
      });
      return undefined;
    },
  };
}

async function readKeys(db: Database, url: string): Promise<CatalogueKeys> {
  const keys = await readCatalogueKeys(db, url);
  if (!keys) throw fail('unavailable', 'The peer is paired no more, or its keys wait for confirmation.');
  return keys;
}
