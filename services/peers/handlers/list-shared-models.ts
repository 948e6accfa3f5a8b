import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import type { FormsOperations, SharedEntry } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { signSharedEntry } from '../domain/shared-document.ts';
import { hurryUnread, markShown } from '../queries/catalogues.ts';
import { peerIdOf } from './dependencies.ts';

interface Options {
  db: Database;
  forms: Pick<FormsOperations, 'sharedEntries'>;
  baseUrl: string;
  /** There is a catalogue to read. */
  wake: () => void;
  signingKey: JWK & { kid: string };
}

const pageSize = 20;
/** A page ends before it gets longer than this; a single entry may be (docs/federation.md, "Catalogue"). */
const pageCharacters = 2 ** 20;
const cacheBytes = 32 * 2 ** 20;

/** GET /federation/models: what the peer that asks may show, as a whole, in pages (docs/federation.md, "Catalogue"). */
export function listSharedModelsHandler({ db, forms, baseUrl, wake, signingKey }: Options): Handler {
  // Signing costs more than all else here, and an entry is the same for every peer.
  const signed = new LRUCache<string, string>({ maxSize: cacheBytes, sizeCalculation: (jws) => jws.length });

  async function sign(entry: SharedEntry, now: Date): Promise<string> {
    const name = `${entry.key} ${entry.revision}`;
    const known = signed.get(name);
    if (known) return known;
    const jws = await signSharedEntry(entry, { issuer: baseUrl, key: signingKey, now });
    signed.set(name, jws);
    return jws;
  }

  /** As many as fit on a page, at least one. */
  async function signPage(entries: readonly SharedEntry[], now: Date): Promise<string[]> {
    const page: string[] = [];
    let characters = 0;
    for (const entry of entries) {
      const jws = await sign(entry, now);
      characters += jws.length;
      if (page.length > 0 && characters > pageCharacters) break;
      page.push(jws);
    }
    return page;
  }

  return async (ctx, { query, principal }) => {
    const now = new Date();
    const peer = peerIdOf(principal.account);
    // Who asks knows our keys: a new partner has pinned them, and will answer us.
    if (await hurryUnread(db, peer)) wake();
    const known = query.since === undefined ? null : String(query.since);
    const found = await forms.sharedEntries({ peer, after: readAfter(query.cursor), known, limit: pageSize });
    await markShown(db, peer, found.state);
    const entries = await signPage(found.entries, now);
    const last = found.entries[entries.length - 1];
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      asOf: now.toISOString(),
      state: found.state,
      unchanged: found.state === known,
      entries,
      next: last && (found.more || entries.length < found.entries.length) ? writeAfter(last.key) : null,
    };
  };
}

function writeAfter(key: string): string {
  return Buffer.from(key).toString('base64url');
}

/** @throws Failure `malformed`. */
function readAfter(cursor: unknown): string {
  if (cursor === undefined) return '';
  const key = Buffer.from(String(cursor), 'base64url').toString();
  if (/^[0-9A-Za-z_.-]{2,255}$/.test(key)) return key;
  throw fail('malformed', 'The cursor is not one that this list gave.');
}
