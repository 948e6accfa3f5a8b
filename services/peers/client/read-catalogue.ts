import type { components } from '#lib/contracts/openapi.gen.ts';
import { fail } from '#lib/errors/fail.ts';
import type { PeerClient } from './peer-client.ts';

/** Longer catalogues are cut. */
const catalogueLimits = { pages: 100, entries: 2_000, characters: 32 * 2 ** 20 };

/** A page has 1 MiB of entries, or one entry of 2 MiB; twice that, because JSON may escape characters. */
const maxPageBytes = 4 * 2 ** 20;
/** How often a catalogue is read from the start if it changes between two pages. */
const maxReads = 3;

type Page = Omit<components['schemas']['SharedModels'], 'asOf'>;

interface Options {
  client: Pick<PeerClient, 'send'>;
  url: string;
  /** State of our copy. */
  known: string | null;
  /** Stores the documents of a page. A new state means that reading started over. */
  store: (documents: readonly string[], state: string) => Promise<void>;
  /** Aborts between two pages. */
  signal: AbortSignal;
}

/** The state that was read, and whether a limit was exceeded, so that the rest was not read. */
type Reading = { state: string; cut: boolean };

/** Reads a peer's catalogue page by page (docs/federation.md, "Catalogue"). @throws Failure `unavailable`. */
export async function readCatalogue(options: Options): Promise<Reading> {
  for (let reads = 0; reads < maxReads; reads += 1) {
    const reading = await readFromStart(options);
    if (reading) return reading;
  }
  throw unreadable('it changed while it was read');
}

/** @returns undefined if the catalogue changed between two pages. */
async function readFromStart({ client, url, known, store, signal }: Options): Promise<Reading | undefined> {
  let state: string | undefined;
  const left = { ...catalogueLimits };
  let query = known === null ? '' : `?since=${encodeURIComponent(known)}`;
  for (;;) {
    if (signal.aborted) throw unreadable('it took too long');
    const page = await readPage(client, url, query);
    if (state !== undefined && page.state !== state) return undefined;
    if (page.unchanged && page.state === known) return { state: known, cut: false };
    state = page.state;
    await store(page.entries.slice(0, left.entries), state);
    left.pages -= 1;
    left.entries -= page.entries.length;
    left.characters -= page.entries.join('').length;
    const isOver = left.pages <= 0 || left.entries <= 0 || left.characters <= 0;
    if (page.next === null || isOver) return { state, cut: page.next !== null || left.entries < 0 };
    query = `?cursor=${encodeURIComponent(page.next)}`;
  }
}

async function readPage(client: Options['client'], url: string, query: string): Promise<Page> {
  const reply = await client.send({
    method: 'GET',
    url,
    path: `/federation/models${query}`,
    maxBytes: maxPageBytes,
  });
  if (reply.status !== 200) throw unreadable(`the peer answered ${reply.status}`);
  const { state, unchanged, entries, next } = (reply.content ?? {}) as Record<string, unknown>;
  const isValid =
    isText(state, 128) &&
    Array.isArray(entries) &&
    entries.every((entry) => typeof entry === 'string') &&
    (next === null || isText(next, 1_000));
  if (!isValid) throw unreadable('a page is not valid');
  return { state, unchanged: unchanged === true, entries, next };
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= max;
}

function unreadable(reason: string) {
  return fail('unavailable', `The catalogue of the peer cannot be read: ${reason}.`);
}
