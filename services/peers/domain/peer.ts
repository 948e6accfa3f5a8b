import { hostName } from '#lib/text/host-name.ts';
import type { PeerKey } from './description.ts';

/** A paired instance. */
export interface Peer {
  id: string;
  /** Base URL: identifies the peer in every message. */
  url: string;
  name: string;
  /** Its page "My choices"; null if it has announced none. */
  choices: string | null;
  /** QUARANTINED: it published keys that no pinned key vouched for. ENDED: the peer ended the pairing. */
  state: 'PAIRED' | 'QUARANTINED' | 'ENDED';
  /** Put before the names of subjects who answer at the peer (docs/federation.md). */
  subjectPrefix: string;
  /** Key or id of the email for subjects who answer at the peer; null if none is sent. */
  notification: string | null;
  /** If it asks for an erasure: an administrator decides (ASK), or it starts at once (FOLLOW). */
  erasure: 'ASK' | 'FOLLOW';
  /** Whether both cosign the heads of each other's logs. */
  witness: boolean;
  version: number;
  /** Thumbprints of its pinned signing keys. */
  thumbprints: string[];
  /** Keys that an administrator has to confirm; null if there are none. */
  announced: PeerKey[] | null;
  createdAt: Date;
  modifiedAt: Date;
  lastContactAt: Date | null;
  /** When its keys were last compared through another channel; null if they were not since the pairing. */
  comparedAt: Date | null;
}

/** A peer in the administrators' list. */
export interface ListedPeer extends Peer {
  /** Number of parts, decisions, withdrawals and erasures that wait to be sent to it. */
  backlog: number;
  /** Consecutive failed attempts to send to it; attempts that fail at the same time count once. */
  failures: number;
  /** Of a failing peer; null otherwise. */
  nextAttemptAt: Date | null;
  lastError: string | null;
  /** When its catalogue was last read, and how many entries it had; null before. */
  catalogueReadAt: Date | null;
  catalogueSize: number | null;
}

const loopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Reads a peer's base URL: an https origin without a path (docs/federation.md, "Pairing").
 * @param own our base URL. @param plainLoopback whether peers on this machine may use http.
 */
export function readPeerAddress(
  text: string,
  { own, plainLoopback }: { own: string; plainLoopback: boolean },
): { origin: string } | { fault: string } {
  if (!URL.canParse(text))
    return { fault: "A peer's address must be a URL such as https://consent.example.org." };
  const url = new URL(text);
  if (url.username || url.password)
    return { fault: "A peer's address must not contain a user name or password." };
  if (url.pathname !== '/' || url.search || url.hash || /[?#]/.test(text))
    return { fault: "A peer's address must not have anything after the host and port." };
  if (!hostName.test(url.hostname)) return { fault: "A peer's address must contain a valid host name." };
  const isPlain = url.protocol === 'http:' && plainLoopback && loopback.test(url.hostname);
  if (url.protocol !== 'https:' && !isPlain) return { fault: "A peer's address must start with https://." };
  if (url.origin === own) return { fault: 'An instance cannot be its own peer.' };
  return { origin: url.origin };
}
