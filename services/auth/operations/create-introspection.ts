import type { AuthOperations } from '#lib/contracts/auth.ts';
import { judgeCredentials } from '../domain/judge-credentials.ts';
import { readCredentials } from '../domain/read-credentials.ts';
import type { TokenVerifier } from '../tokens/token-verifier.ts';
import type { KeyVerifier } from './create-key-verifier.ts';

/** Says who the credentials of a request speak for. */
export function createIntrospection({
  keys,
  tokens,
}: {
  keys: KeyVerifier;
  tokens: TokenVerifier;
}): AuthOperations['introspect'] {
  return async (credentials) => {
    const read = readCredentials(credentials);
    const [judgedKeys, token] = await Promise.all([
      Promise.all(read.keys.map((key) => keys.verify(key))),
      read.token === undefined ? undefined : tokens.verify(read.token),
    ]);
    return judgeCredentials({
      keys: judgedKeys,
      token,
      malformed: read.malformed,
      browser: credentials.browser,
    });
  };
}
