import type { Principal } from '#lib/auth/principal.ts';

/** The credentials of one request, as its headers carry them. */
export interface Credentials {
  authorization?: string;
  /** `CM_KEY` or `CM-Key`. */
  apiKey?: string;
  /** A browser page sends the request (`Origin` or `Sec-Fetch-Site` is present): API keys are refused with 403 (decisions.md §7). */
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

/** What auth says of the key with which another instance wants to pair. `used`: by another pairing, or too old. */
export type PairingKeyVerdict = 'reserved' | 'unknown' | 'not-for-pairing' | 'used';

/** Internal operations of the auth service. All may be called again without harm. */
export interface AuthOperations {
  introspect(input: Credentials): Promise<Introspection>;
  /** Reserves a one-time key of scope PEER for ten minutes (federation.md, "Trust"). @param input.pairing a UUID, drawn by the other side. */
  reservePairingKey(input: { apiKey: string; pairing: string }): Promise<{ verdict: PairingKeyVerdict }>;
  /** Uses up a reserved key. @returns used: false if the pairing has it no more. */
  usePairingKey(input: { apiKey: string; pairing: string }): Promise<{ used: boolean }>;
}
