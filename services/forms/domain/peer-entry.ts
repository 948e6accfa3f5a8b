import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { AnswerableType, PeerEntry } from '#lib/contracts/forms.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { checkContent } from './check-content.ts';
import { line } from './content/fields.ts';
import { isModelKey, parseSerial, type Serial } from './identifiers.ts';
import type { VersionData } from './model.ts';

/** A peer as its copy names it. */
export interface NamedPeer {
  /** What it calls itself. */
  owner: string;
  /** host[:port] of its address. */
  host: string;
  /** Another peer has a name that looks the same. */
  isNamesake: boolean;
}

/**
 * What people are told who asks: the peer's name, and its address beside it where the name alone does not say whose the answer will be,
 * because the name of this instance or of another peer looks the same.
 * @param ownName INSTANCE_NAME
 */
export function ownerName({ owner, host, isNamesake }: NamedPeer, ownName: string): string {
  return isNamesake || appearanceOf(owner) === appearanceOf(ownName) ? `${owner} (${host})` : owner;
}

/** Characters that are not seen: those that Unicode says to ignore, blanks (U+2800 is the empty braille pattern), and marks. */
const notSeen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Z}\p{M}\u2800]/gu;

/** What looks like a Latin letter in one of its cases (UTS #39, confusables.txt): Cyrillic, Greek, Armenian, digits, signs. */
const lookAlikes = {
  a: 'аαɑ', b: 'вβь', c: 'сϲ', d: 'ԁ', e: 'еε', g: 'ɡց', h: 'нηһհ', j: 'ј', k: 'кκ', l: 'iіιıӏ1|!', m: 'мμ', n: 'νո', o: 'оοօ0',
  p: 'рρ', q: 'ԛզ', s: 'ѕ', t: 'тτ', u: 'ս', v: 'ѵ', w: 'ԝ', x: 'хχ', y: 'уυүγ', z: 'ζ',
}; // biome-ignore format: a table

const latin = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) =>
    [...others].map((other) => [other, letter] as const),
  ),
);

/**
 * What two names have in common if people take one for the other, after the skeletons of UTS #39: compatibility forms, case, what is
 * not seen, and letters that look like Latin ones do not count. A name that has nothing else stands for itself.
 */
export function appearanceOf(name: string): string {
  const folded = name.normalize('NFKD').replaceAll(notSeen, '').toLowerCase().normalize('NFKD');
  const letters = [...folded.replaceAll(notSeen, '')].map((letter) => latin.get(letter) ?? letter).join('');
  return letters.replaceAll('rn', 'm').replaceAll('vv', 'w') || name;
}

/** What is shown of a peer is a copy; how old it is decides what becomes of it (federation.md, "Sharing content"). */
export interface PeerCopy {
  /** Base URL of the peer. */
  url: string;
  /** Its name. */
  owner: string;
  /** Seconds since the copy was known to be as the peer's own. */
  age: number;
}

const daySeconds = 24 * 60 * 60;

/** Whether the subject is told how old the copy is. */
export function isDated({ age }: PeerCopy): boolean {
  return age > daySeconds;
}

/** @param staleDays PEER_STALE_LIMIT. @throws Failure `unavailable` naming the first peer whose copy is too old to be shown. */
export function requireFresh(copies: Iterable<PeerCopy>, staleDays: number): void {
  for (const copy of copies) if (copy.age > staleDays * daySeconds) throw tooOld(copy);
}

/** Nobody is asked without being told who asks. @param all what there is of these peers. @throws Failure `unavailable` naming the first that does not say it. */
export function requireInformation(
  copies: Iterable<PeerCopy>,
  all: readonly (Pick<PeerCopy, 'url'> & { type: string })[],
): void {
  const introduced = new Set(all.filter(({ type }) => type === 'information').map(({ url }) => url));
  for (const copy of copies) if (!introduced.has(copy.url)) throw unanswerable(copy);
}

export function unanswerable({ owner, url }: Pick<PeerCopy, 'owner' | 'url'>): Failure {
  return fail('unavailable', `Answers cannot be sent to ${owner} (${url}) at this moment.`, {
    headers: { 'Retry-After': '60' },
    members: { peer: url },
  });
}

function tooOld({ owner, url }: PeerCopy): Failure {
  return fail(
    'unavailable',
    `What ${owner} (${url}) asks in this form cannot be shown: ${owner} has not been reached for too long.`,
    { headers: { 'Retry-After': '60' }, members: { peer: url } },
  );
}

/** What says which version of what it is; its content is not looked at yet. */
export interface PeerVersionHead extends Serial {
  key: string;
  type: 'information' | AnswerableType;
  name: string;
  /** Of the content as it came, in whatever order its members are: what was checked once need not be checked again. */
  digest: Buffer;
}

/** A peer's version that may be shown. */
export interface PeerVersion extends PeerVersionHead {
  defaultLanguage: string;
  data: VersionData;
}

const types: ReadonlySet<string> = new Set(['information', 'processing', 'preference', 'conditions']);

/** Undefined if it is not clear what it is. A peer is not trusted to send what it should. */
export function readPeerHead({
  key,
  type,
  name,
  serial,
  defaultLanguage,
  data,
}: PeerEntry): PeerVersionHead | undefined {
  const numbers = typeof serial === 'string' ? parseSerial(serial) : undefined;
  const title = line(255)(name, '/name', []);
  if (!numbers || !title || typeof key !== 'string' || !isModelKey(key) || !types.has(type)) return undefined;
  const digest = createHash('sha256')
    .update(canonicalize([type, defaultLanguage, data]) as string)
    .digest();
  return { ...numbers, key, type: type as PeerVersionHead['type'], name: title, digest };
}

/** A peer's content by the rules for our own, sanitised by the same sanitiser; undefined if it breaks one (federation.md, "Sharing content"). */
export async function readPeerContent(
  { type }: Pick<PeerVersionHead, 'type'>,
  { defaultLanguage, data }: Pick<PeerEntry, 'defaultLanguage' | 'data'>,
): Promise<Pick<PeerVersion, 'defaultLanguage' | 'data'> | undefined> {
  if (typeof defaultLanguage !== 'string' || typeof data !== 'object' || data === null || Array.isArray(data))
    return undefined;
  const checked = await checkContent(type, { defaultLanguage, data });
  return checked.faults.length === 0 ? { defaultLanguage, data: checked.data } : undefined;
}
