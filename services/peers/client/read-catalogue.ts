import { fail } from '#lib/errors/fail.ts';
import type { PeerClient } from './peer-client.ts';

/** What is read of a catalogue at most; the rest is cut off. */
const catalogueLimits = { pages: 100, entries: 2_000, bytes: 32 * 2 ** 20 };

/** A page is at most this long: entries up to 1 MiB, and one more of at most 2 MiB. */
const mostPageBytes = 4 * 2 ** 20;
/** So often the whole is begun again because it changed from one page to the next. */
const mostBeginnings = 3;

/** A catalogue as it was read. */
export interface Reading {
  state: string;
  /** It is as it was: no entry was handed over. */
  unchanged: boolean;
  /** There was more than may be. */
  cut: boolean;
}

interface Page {
  state: string;
  unchanged: boolean;
  entries: string[];
  next: string | null;
  bytes: number;
}

interface Options {
  client: Pick<PeerClient, 'send'>;
  url: string;
  /** The state that the copy has. */
  known: string | null;
  /** Takes the documents of a page, and the state that they are of: another one than before is another beginning. */
  take: (documents: readonly string[], state: string) => Promise<void>;
  /** Ends it between two pages. */
  signal: AbortSignal;
}

/**
 * Reads a peer's catalogue page by page (docs/federation.md, "Catalogue"). @throws Failure `unavailable` if it cannot be read, or not as a whole.
 */
export async function readCatalogue(options: Options): Promise<Reading> {
  for (let beginning = 0; beginning < mostBeginnings; beginning += 1) {
    const reading = await readFromBeginning(options);
    if (reading) return reading;
  }
  throw unreadable('it changes faster than it can be read');
}

/** Undefined if it changed between two pages. */
async function readFromBeginning({
  client,
  url,
  known,
  take,
  signal,
}: Options): Promise<Reading | undefined> {
  let state: string | undefined;
  let left = { ...catalogueLimits };
  let query = known === null ? '' : `?since=${encodeURIComponent(known)}`;
  for (;;) {
    if (signal.aborted) throw unreadable('it takes too long');
    const page = await readPage(client, url, query);
    if (state !== undefined && page.state !== state) return undefined;
    if (page.unchanged && page.state === known) return { state: known, unchanged: true, cut: false };
    state = page.state;
    await take(page.entries.slice(0, left.entries), state);
    left = {
      pages: left.pages - 1,
      entries: left.entries - page.entries.length,
      bytes: left.bytes - page.bytes,
    };
    if (left.entries < 0) return { state, unchanged: false, cut: true };
    if (page.next === null) return { state, unchanged: false, cut: false };
    if (left.pages <= 0 || left.entries === 0 || left.bytes <= 0)
      return { state, unchanged: false, cut: true };
    query = `?cursor=${encodeURIComponent(page.next)}`;
  }
}

async function readPage(client: Options['client'], url: string, query: string): Promise<Page> {
  const reply = await client.send({
    method: 'GET',
    url,
    path: `/federation/models${query}`,
    maxBytes: mostPageBytes,
  });
  if (reply.status !== 200) throw unreadable(`the peer answered ${reply.status}`);
  const { state, unchanged, entries, next } = (reply.content ?? {}) as Record<string, unknown>;
  const sound =
    isText(state, 128) &&
    Array.isArray(entries) &&
    entries.every((entry) => typeof entry === 'string') &&
    (next === null || isText(next, 1_000));
  if (!sound) throw unreadable('a page of it has not the form of one');
  return { state, unchanged: unchanged === true, entries, next, bytes: reply.bytes };
}

function isText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= most;
}

function unreadable(why: string) {
  return fail('unavailable', `The catalogue of the peer cannot be read: ${why}.`);
}
