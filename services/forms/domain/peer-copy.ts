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

function tooOld({ owner, url }: PeerCopy): Failure {
  return fail(
    'unavailable',
    `What ${owner} (${url}) asks in this form cannot be shown: ${owner} has not been reached for too long.`,
    { headers: { 'Retry-After': '60' }, members: { peer: url } },
  );
}
