import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { SharedEntry } from '#lib/contracts/peer-entries.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { signSharedEntry } from '../domain/signatures.ts';
import { markSent, scheduleFirstRead, scheduleSoon } from '../queries/catalogues.ts';
import { peerOf } from './authenticate.ts';

const pageSize = 20;
/** A page with several entries is no longer than this (docs/federation.md, "Catalogue"). */
const pageCharacters = 2 ** 20;

/** /federation/models and /federation/ping. @param wake called when a catalogue has become due. */
export function catalogueHandlers(
  { db, forms, baseUrl }: Dependencies,
  { signingKey, wake }: { signingKey: PrivateKey; wake: () => void },
) {
  /** Signs as many entries as fit on a page, at least one. */
  function signPage(entries: readonly SharedEntry[], now: Date): string[] {
    const page: string[] = [];
    let characters = 0;
    for (const entry of entries) {
      const jws = signSharedEntry(entry, { issuer: baseUrl, key: signingKey, now });
      characters += jws.length;
      if (page.length > 0 && characters > pageCharacters) break;
      page.push(jws);
    }
    return page;
  }

  return {
    /** One page of the entries that are shared with the calling peer. */
    async listSharedModels(ctx, { query }) {
      const now = new Date();
      const { id: peer, url } = peerOf(ctx);
      // The caller has pinned our keys, so it will accept our request for its catalogue.
      if (await scheduleFirstRead(db, url)) wake();
      const known = query.since ?? null;
      const after = readAfter(query.cursor);
      const found = await forms.sharedEntries({ peer, after, known, limit: pageSize });
      await markSent(db, peer, found.state);
      const entries = signPage(found.entries, now);
      const last = found.entries[entries.length - 1];
      const isMore = found.more || entries.length < found.entries.length;
      ctx.set('Cache-Control', 'no-store');
      ctx.body = {
        asOf: now.toISOString(),
        state: found.state,
        unchanged: found.state === known,
        entries,
        next: last && isMore ? Buffer.from(last.key).toString('base64url') : null,
      };
    },

    /** The calling peer's catalogue has changed. */
    async announceChange(ctx) {
      await scheduleSoon(db, peerOf(ctx).url);
      wake();
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}

/** @throws Failure `malformed`. */
function readAfter(cursor: string | undefined): string {
  if (cursor === undefined) return '';
  const key = Buffer.from(cursor, 'base64url').toString();
  if (/^[0-9A-Za-z_.-]{2,255}$/.test(key)) return key;
  throw fail('malformed', 'The cursor is not valid. Use the cursor of the previous page.');
}
