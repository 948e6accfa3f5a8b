import type { Principal } from '#lib/contracts/principal.ts';

/** The credentials of one request, as its headers carry them. */
export interface Credentials {
  authorization?: string;
  /** `CM_KEY` or `CM-Key`. */
  apiKey?: string;
  /** A browser page sends the request (`Origin` or `Sec-Fetch-Site` is present): API keys are refused with 403 (docs/interface.md, "Credentials"). */
  browser: boolean;
}

/**
 * What auth says of credentials. `none`: there were none that auth knows. `refused`: an API key that is invalid or revoked
 * (always 401) or sent by a browser page (403). `bad-authorization`: only the Authorization header is bad, so a transaction token may still stand.
 */
export type Introspection =
  | { result: 'principal'; principal: Principal }
  | { result: 'none' }
  | { result: 'bad-authorization' }
  | { result: 'refused'; code: 'unauthorized' | 'forbidden'; detail: string };

/** What auth says of the key with which another instance wants to pair. `used`: by another pairing or partner, spent, or too old. */
export type PairingKeyVerdict = 'reserved' | 'unknown' | 'not-for-pairing' | 'used';

/** The instance that presents a one-time key: the key is bound to both. */
export interface PairingPartner {
  /** Base URL. */
  url: string;
  /** RFC 7638 thumbprint of the key that signs its self-description. */
  thumbprint: string;
}

/** A one-time key and the pairing that it is presented for. */
interface PresentedKey {
  apiKey: string;
  /** A UUID that the other side generated. */
  pairing: string;
  partner: PairingPartner;
}

/** Internal operations of the auth service. All are idempotent. */
export interface AuthOperations {
  introspect(input: Credentials): Promise<Introspection>;
  /** Reserves a one-time key of scope PEER for ten minutes, for this pairing of this partner alone (docs/federation.md, "Pairing"). */
  reservePairingKey(input: PresentedKey): Promise<{ verdict: PairingKeyVerdict }>;
  /** Uses up a reserved key. @returns used: false if the key is no longer reserved for this pairing. */
  usePairingKey(input: PresentedKey): Promise<{ used: boolean }>;
  /** Spends every key that a partner has presented: after its removal it needs a new one. @param input.url its base URL. */
  spendPairingKeys(input: { url: string }): Promise<Record<string, never>>;
}
