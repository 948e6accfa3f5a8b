import type { TokenVerdict } from '../domain/verdict.ts';

/** Judges access tokens of the instance's issuer. Never throws for a bad token. */
export interface TokenVerifier {
  verify(token: string): Promise<TokenVerdict>;
}
