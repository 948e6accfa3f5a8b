import { createHash, timingSafeEqual } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { readSharedSecret } from '#lib/config/secret-values.ts';
import { StartupError } from '#lib/errors/fail.ts';

/** Id of the client with which people sign in to the console. */
export const consoleClientId = 'accord-console';

/** After a sign-in to the console, its grant and refresh tokens are valid for this long. */
const sessionSeconds = 12 * 60 * 60;

/** The built-in confidential client: the only one with refresh tokens. */
export interface ConsoleClient {
  metadata: ClientMetadata;
  /** Compares with each entry of the secret, in constant time. */
  hasSecret(given: string): boolean;
}

/**
 * @param secrets entries of `console-client`; all are accepted.
 * @throws StartupError if there is none, or one is too weak.
 */
export function createConsoleClient({
  baseUrl,
  secrets,
}: {
  baseUrl: string;
  secrets: readonly string[];
}): ConsoleClient {
  checkStrength(secrets);
  const digests = secrets.map(digestOf);
  return {
    metadata: {
      id_token_signed_response_alg: 'ES256',
      response_modes: ['query'],
      client_id: consoleClientId,
      client_secret: secrets[0],
      token_endpoint_auth_method: 'client_secret_basic',
      application_type: 'web',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [`${baseUrl}/console/callback`],
      require_auth_time: true,
    },
    hasSecret(given) {
      const digest = digestOf(given);
      return digests.reduce((found, known) => timingSafeEqual(digest, known) || found, false);
    },
  };
}

/**
 * Seconds for which a grant or refresh token of the console is still valid.
 * @param authTime of the sign-in, in epoch seconds.
 */
export function remainingSeconds(authTime: number): number {
  const now = Math.floor(Date.now() / 1000);
  return Math.max(1, authTime + sessionSeconds - now);
}

/** Checks the secrets here, not when they are read: with an outside issuer that issuer decides on them. */
function checkStrength(secrets: readonly string[]): void {
  if (secrets.length === 0) throw new StartupError('The secret console-client is empty.');
  for (const [index, secret] of secrets.entries())
    try {
      readSharedSecret(secret);
    } catch (error) {
      throw new StartupError(`The secret console-client, entry ${index + 1}: ${(error as Error).message}.`);
    }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
