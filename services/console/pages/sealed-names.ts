import { createSecretBox } from '#lib/jose/secret-box.ts';
import { ApiFailure } from '../api/api-failure.ts';

/**
 * Names of people, and words that are searched for, in URLs: encrypted, so that no log and no history of a
 * browser has them. The same name always gives the same URL.
 */
export interface SealedNames {
  /** @returns characters of base64url. @throws ApiFailure 414 for a text that is too long for a URL. */
  seal(name: string): string;
  /** @returns undefined without a value. @throws ApiFailure 404 for a value that was not sealed here. */
  open(sealed: unknown): string | undefined;
}

/** In UTF-16 code units; names have at most 255. Browsers and proxies read a URL with as many. */
const maxLength = 1_000;

/** @param keys `console-session`: the first seals, all open. */
export function createSealedNames(keys: readonly Uint8Array[]): SealedNames {
  const box = createSecretBox(keys, 'accord console names', { isRepeatable: true });
  return {
    seal(name) {
      if (name.length > maxLength) throw new ApiFailure(414, {});
      return box.seal('name', name).toString('base64url');
    },
    open(sealed) {
      if (sealed === undefined || sealed === '') return undefined;
      try {
        return box.open('name', Buffer.from(String(sealed), 'base64url'));
      } catch {
        throw new ApiFailure(404, {});
      }
    },
  };
}
