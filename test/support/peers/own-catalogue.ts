import type { ServerResponse } from 'node:http';
import { CompactSign, importJWK } from 'jose';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { PeerEntry } from '#lib/contracts/peer-entries.ts';
import { sharedEntry } from './peer-entries.ts';
import type { OwnPeer } from './peer-of-our-own.ts';

/** A catalogue that a partner of our own shows; a test changes it as it likes. */
export interface OwnCatalogue {
  state: string;
  /** Signed documents. */
  entries: string[];
  pageSize: number;
  /** Searches of the requests that came, oldest first. */
  asked: string[];
  /** Answers a request for a page itself, or returns false. */
  instead: (response: ServerResponse, search: URLSearchParams) => unknown;
}

/** Has a partner show a catalogue, by docs/federation.md ("Catalogue"). */
export function showCatalogue(partner: OwnPeer): OwnCatalogue {
  const shown: OwnCatalogue = { state: 'first', entries: [], pageSize: 20, asked: [], instead: () => false };
  const before = partner.answer;
  partner.answer = async (request, response) => {
    const url = new URL(request.url ?? '/', partner.url);
    if (url.pathname !== '/federation/models') return before(request, response);
    shown.asked.push(url.search);
    if ((await shown.instead(response, url.searchParams)) !== false) return;
    const { state, pageSize } = shown;
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const unchanged = url.searchParams.get('since') === state;
    const entries = unchanged ? [] : shown.entries.slice(from, from + pageSize);
    const next = !unchanged && from + pageSize < shown.entries.length ? String(from + pageSize) : null;
    sendPage(response, { state, unchanged, entries, next });
  };
  return shown;
}

/** Answers with a page of the catalogue, which may be faulty. */
export function sendPage(response: ServerResponse, page: object): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(
    JSON.stringify({ asOf: new Date().toISOString(), unchanged: false, entries: [], next: null, ...page }),
  );
}

/** Signs an entry as a partner does. @param how the fault of the entry, if any. */
export async function signEntry(
  partner: OwnPeer,
  changes: Partial<PeerEntry> & { iss?: unknown } = {},
  how: { key?: PrivateKey; header?: Record<string, unknown>; payload?: string } = {},
): Promise<string> {
  const key = how.key ?? (partner.keys[0] as PrivateKey);
  const claims = { iss: partner.url, iat: 1_700_000_000, revision: 1, ...sharedEntry(), ...changes };
  return new CompactSign(Buffer.from(how.payload ?? JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', typ: 'accord-model+jwt', kid: key.kid, ...how.header })
    .sign(await importJWK(key, 'ES256'));
}
