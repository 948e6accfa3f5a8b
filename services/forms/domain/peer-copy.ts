import { type Failure, fail } from '#lib/errors/fail.ts';

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
