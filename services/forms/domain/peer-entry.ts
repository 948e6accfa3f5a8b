import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AnswerableType } from '#lib/contracts/forms.ts';
import type { PeerEntry } from '#lib/contracts/peer-entries.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { appearanceOf } from '#lib/text/appearance.ts';
import { checkContent } from './check-content.ts';
import { line } from './content/fields.ts';
import { isModelKey, parseSerial, type Serial } from './identifiers.ts';
import { isAnswerable, type VersionData } from './model.ts';

/** The names of a peer in its copy. */
export interface NamedPeer {
  /** The name that the peer gives itself. */
  owner: string;
  /** host[:port] of its address. */
  host: string;
  /** Whether another peer has a name that looks the same. */
  isNamesake: boolean;
}

/**
 * The displayed name of a peer. The host is added if the name looks like that of this instance or of another
 * peer.
 * @param ownName INSTANCE_NAME
 */
export function ownerName({ owner, host, isNamesake }: NamedPeer, ownName: string): string {
  return isNamesake || appearanceOf(owner) === appearanceOf(ownName) ? `${owner} (${host})` : owner;
}

/**
 * The copy of a peer's elements. Its age decides whether it is shown (docs/federation.md, "How the copy is
 * kept").
 */
export interface PeerCopy {
  /** Base URL of the peer. */
  url: string;
  /** Its name. */
  owner: string;
  /** Seconds since the copy was last confirmed. */
  age: number;
}

const daySeconds = 24 * 60 * 60;

/** Whether the form states the age of the copy. */
export function isDated({ age }: PeerCopy): boolean {
  return age > daySeconds;
}

/** Whether the copy is too old to be shown. @param staleDays PEER_STALE_LIMIT. */
export function isStale({ age }: PeerCopy, staleDays: number): boolean {
  return age > staleDays * daySeconds;
}

/**
 * @param staleDays PEER_STALE_LIMIT.
 * @throws Failure `unavailable` naming the first peer whose copy is too old to be shown.
 */
export function requireFresh(copies: Iterable<PeerCopy>, staleDays: number): void {
  for (const copy of copies) {
    if (!isStale(copy, staleDays)) continue;
    const { owner, url } = copy;
    throw unavailable(url, `The elements of ${owner} (${url}) cannot be shown: the copy is too old`);
  }
}

/**
 * A form names the organisation that asks, so every peer in it needs an information.
 * @param all the entries of these peers.
 * @throws Failure `unavailable` naming the first peer without an information.
 */
export function requireInformation(
  copies: Iterable<PeerCopy>,
  all: readonly (Pick<PeerCopy, 'url'> & { type: string })[],
): void {
  const withInformation = new Set(all.filter(({ type }) => type === 'information').map(({ url }) => url));
  for (const copy of copies) if (!withInformation.has(copy.url)) throw unanswerable(copy);
}

export function unanswerable({ owner, url }: Pick<PeerCopy, 'owner' | 'url'>): Failure {
  return unavailable(url, `Answers cannot be sent to ${owner} (${url}) at the moment`);
}

function unavailable(peer: string, reason: string): Failure {
  return fail('unavailable', `${reason}; try again later.`, {
    headers: { 'Retry-After': '60' },
    members: { peer },
  });
}

/** The identity of a received version, without its content. */
export interface PeerVersionHead extends Serial {
  key: string;
  type: 'information' | AnswerableType;
  name: string;
  /** Digest of the received content in canonical order. Known content is not checked again. */
  digest: Buffer;
}

/** A checked version of a peer's entry. */
export interface PeerVersion extends PeerVersionHead {
  defaultLanguage: string;
  data: VersionData;
}

/** Reads the identity of a received entry; undefined if it is not valid. */
export function readPeerHead(entry: PeerEntry): PeerVersionHead | undefined {
  const { key, type, name, serial, defaultLanguage, data } = entry;
  const numbers = typeof serial === 'string' ? parseSerial(serial) : undefined;
  const title = line(255)(name, '/name', []);
  if (!numbers || !title || typeof key !== 'string' || !isModelKey(key)) return undefined;
  if (type !== 'information' && !isAnswerable(type)) return undefined;
  const digest = createHash('sha256')
    .update(canonicalize([type, defaultLanguage, data]) as string)
    .digest();
  return { ...numbers, key, type, name: title, digest };
}

/**
 * Checks and sanitises a peer's content by the rules for our own (docs/federation.md, "How the copy is
 * kept"); undefined if it is not valid.
 */
export async function readPeerContent(
  { type }: Pick<PeerVersionHead, 'type'>,
  { defaultLanguage, data }: Pick<PeerEntry, 'defaultLanguage' | 'data'>,
): Promise<Pick<PeerVersion, 'defaultLanguage' | 'data'> | undefined> {
  if (typeof defaultLanguage !== 'string' || typeof data !== 'object' || data === null || Array.isArray(data))
    return undefined;
  const checked = await checkContent(type, { defaultLanguage, data });
  return checked.faults.length === 0 ? { defaultLanguage, data: checked.data } : undefined;
}
