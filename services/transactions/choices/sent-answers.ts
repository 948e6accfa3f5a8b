import { type Notice, urgency } from '../sent-parts/notice.ts';
import type { Part } from '../sent-parts/part.ts';
import { untoldOwners } from '../sent-parts/part-withdrawal.ts';

/** A part of a person's answers at a peer, with its withdrawal. */
export interface SentPart
  extends Pick<Part, 'sid' | 'location' | 'name' | 'state' | 'reason' | 'shown' | 'withdrawal'> {
  transaction: string;
  /** Whether the peer knows that the person confirmed the address in it. */
  isConfirmed: boolean;
  /** When the answers were given. */
  givenAt: Date;
  /** Whether the peer can be asked to erase it. */
  isErasable: boolean;
  /** What the peer has done about the request to erase it; null without one. */
  erasure: Asked | null;
}

/** How a request to erase stands; `since` as in JSON. */
interface Asked extends Pick<Notice, 'state' | 'outcome'> {
  since: string;
}

/**
 * Where the answers of a person are: the peer has stored some (RECEIVED), or some are on their way (SENDING);
 * it was told that all were withdrawn (WITHDRAWN); it may have them, but has not said so in time (UNKNOWN).
 */
export type SentState = 'RECEIVED' | 'SENDING' | 'WITHDRAWN' | 'UNKNOWN';

/** The answers of a person that went to a peer: which they are, only the peer knows. */
export interface SentAnswers {
  name: string;
  /** Base URL. */
  location: string;
  /** Id of the part by which the peer finds the person: of the newest that it may open to an address. */
  sid: string;
  /** How many forms had questions of it. */
  forms: number;
  /** When the last of them was answered. */
  last: Date;
  state: SentState;
  /** Whether it can be told to withdraw all. */
  isWithdrawable: boolean;
  /** What it knows of the last withdrawal; null without one. */
  notice: { state: Notice['state']; since: Date } | null;
  /** Whether it can be asked to erase something. */
  isErasable: boolean;
  /** How the most urgent request to erase stands; null without one. */
  erasure: (Pick<Notice, 'state' | 'outcome'> & { since: Date }) | null;
}

/** The answers at each peer that may keep some, the peer with the last answers first. */
export function sentAnswers(parts: readonly SentPart[]): SentAnswers[] {
  const kept = parts.filter(mayBeKept);
  return [...Map.groupBy(kept, ({ location }) => location)]
    .map(([location, its]): SentAnswers => {
      const newest = newestOf(its) as SentPart;
      const notices = its.flatMap(({ withdrawal }) => withdrawal ?? []);
      const [last] = notices.toSorted((a, b) => Date.parse(b.since) - Date.parse(a.since));
      return {
        name: newest.name,
        location,
        sid: openerOf(its).sid,
        forms: new Set(its.map(({ transaction }) => transaction)).size,
        last: newest.givenAt,
        state: stateOf(its),
        isWithdrawable: untoldOwners(its.filter(isNotErased)).length > 0,
        notice: last ? { state: last.state, since: new Date(last.since) } : null,
        isErasable: its.some((part) => part.isErasable),
        erasure: erasureOf(its),
      };
    })
    .sort((a, b) => b.last.getTime() - a.last.getTime());
}

const isNotErased = ({ erasure }: SentPart) => erasure?.outcome !== 'done';

function erasureOf(parts: readonly SentPart[]): SentAnswers['erasure'] {
  const rank = ({ state, outcome }: Asked) => urgency.indexOf(state) - (outcome === 'kept' ? 0.5 : 0);
  const [first] = parts.flatMap(({ erasure }) => erasure ?? []).toSorted((a, b) => rank(a) - rank(b));
  return first ? { ...first, since: new Date(first.since) } : null;
}

/** The part by which the peer most likely finds an address: of those that have arrived, a confirmed one. */
function openerOf(parts: readonly SentPart[]): SentPart {
  const arrived = parts.filter(({ state }) => state === 'ACCEPTED' || state === 'HELD');
  const known = arrived.length > 0 ? arrived : parts;
  return newestOf(known.filter(({ isConfirmed }) => isConfirmed)) ?? (newestOf(known) as SentPart);
}

function newestOf(parts: readonly SentPart[]): SentPart | undefined {
  return parts.toSorted((a, b) => b.givenAt.getTime() - a.givenAt.getTime())[0];
}

/** A part that was refused, or taken back before it was sent, is nowhere. */
function mayBeKept({ state, reason }: Pick<SentPart, 'state' | 'reason'>): boolean {
  return state !== 'REFUSED' && (state !== 'DROPPED' || reason === 'expired');
}

function stateOf(parts: readonly SentPart[]): SentState {
  const standing = parts.filter(({ withdrawal }) => withdrawal === null);
  if (standing.length === 0) return 'WITHDRAWN';
  const isIn = (...states: Part['state'][]) => standing.some(({ state }) => states.includes(state));
  if (isIn('ACCEPTED', 'HELD')) return 'RECEIVED';
  return isIn('SENDING', 'WAITING') ? 'SENDING' : 'UNKNOWN';
}
