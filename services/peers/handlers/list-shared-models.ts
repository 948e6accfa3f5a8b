import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';
import type { FormsOperations, SharedEntry } from '#lib/contracts/forms.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { signSharedEntry } from '../domain/shared-document.ts';
import { peerIdOf } from './dependencies.ts';

interface Options {
  forms: Pick<FormsOperations, 'sharedEntries'>;
  baseUrl: string;
  signingKey: JWK & { kid: string };
}

const pageSize = 20;
const cacheBytes = 32 * 2 ** 20;

/** GET /federation/models: what the peer that asks may show, as a whole, in pages (docs/federation.md, "Catalogue"). */
export function listSharedModelsHandler({ forms, baseUrl, signingKey }: Options): Handler {
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

  return async (ctx, { query, principal }) => {
    const now = new Date();
    const peer = peerIdOf(principal.account);
    const known = query.since === undefined ? null : String(query.since);
    const found = await forms.sharedEntries({ peer, after: readAfter(query.cursor), known, limit: pageSize });
    const last = found.entries.at(-1);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      asOf: now.toISOString(),
      state: found.state,
      unchanged: found.state === known,
      entries: await Promise.all(found.entries.map((entry) => sign(entry, now))),
      next: found.more && last ? writeAfter(last.key) : null,
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
