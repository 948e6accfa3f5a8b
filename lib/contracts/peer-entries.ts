import type { AnswerableType } from '#lib/contracts/forms.ts';

/** An ACTIVE entry as it is sent to peers (docs/federation.md, "Catalogue"). */
export interface SharedEntry {
  key: string;
  type: 'information' | AnswerableType;
  name: string;
  serial: string;
  /** Incremented by every change of the entry. */
  revision: number;
  defaultLanguage: string;
  /** Content by language. */
  data: Record<string, Record<string, unknown>>;
}

/** An entry shared by a peer. Its signature has been verified, its content has not been checked. */
export interface PeerEntry {
  key: string;
  type: string;
  name: string;
  serial: string;
  defaultLanguage: string;
  data: Record<string, unknown>;
}

/** The peer to which a stored catalogue belongs. */
export interface CataloguePeer {
  /** Base URL. */
  url: string;
  name: string;
  /** Public JWK to which answers are encrypted. */
  sealingKey: Record<string, unknown>;
}
