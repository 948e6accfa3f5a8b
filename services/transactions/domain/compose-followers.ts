import type { SealedPart } from '#lib/contracts/submissions.ts';
import type { Follower, ShownPart } from './follower.ts';
import { shownTexts } from './receipt.ts';

/** A peer's part that is to be stored; it is released in the same COMMIT. */
export interface NewFollower {
  sid: string;
  place: number;
  location: string;
  name: string;
  sealed: string;
  mode: Follower['mode'];
  language: string;
  shown: ShownPart;
  /** RFC 3339 */
  deadline: string;
}

/** Parts as they are stored, in the order of the form. @param how what is the same for all. */
export function composeFollowers(
  parts: readonly SealedPart[],
  { mode, language, deadline }: { mode: Follower['mode']; language: string; deadline: Date },
): NewFollower[] {
  return parts.map(({ sid, location, name, sealed, info, elements }, place) => ({
    ...{ sid, place, location, name, sealed, mode, language },
    shown: { information: shownTexts(info), elements: elements.map(shownTexts) },
    deadline: deadline.toISOString(),
  }));
}
