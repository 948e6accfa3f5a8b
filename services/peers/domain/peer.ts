/** A partner instance, as this one knows it. */
export interface Peer {
  id: string;
  /** Base URL: its name in every message. */
  url: string;
  name: string;
  /** QUARANTINED: it came with keys that no pinned key announced. ENDED: the partner ended the pairing. */
  state: 'PAIRED' | 'QUARANTINED' | 'ENDED';
  /** Put before the names of subjects who answer there (docs/federation.md). */
  subjectPrefix: string;
  version: number;
  /** Thumbprints of its pinned signing keys. */
  thumbprints: string[];
  /** Thumbprints of signing keys that wait for an administrator; null when none do. */
  announced: string[] | null;
  createdAt: Date;
  modifiedAt: Date;
  lastContactAt: Date | null;
}

/** A peer as administrators see it. */
export interface ListedPeer extends Peer {
  /** Parts and decisions that wait to be sent to it. */
  backlog: number;
}
