import { hash, verify } from '@node-rs/argon2';
import { boundedNfc, toNfc } from '#lib/text/nfc.ts';

/** argon2id with the parameters of OWASP's Password Storage Cheat Sheet. */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const minLength = 12;
const maxLength = 256;

/** What is wrong with a password that somebody chooses, in a word; undefined if nothing is. */
export type PasswordFault = 'short' | 'long' | 'same-as-name';

/** Checks a new password by length alone, as NIST SP 800-63B advises, and that it is not the name again. */
export function checkNewPassword(password: string, name: string): PasswordFault | undefined {
  const normalised = boundedNfc(password, maxLength);
  if (normalised === undefined) return 'long';
  if ([...normalised].length < minLength) return 'short';
  return password.toLowerCase() === name.toLowerCase() ? 'same-as-name' : undefined;
}

/** Hashes a password with a salt of its own; some 20 ms, on purpose. */
export function hashPassword(password: string): Promise<string> {
  return hash(toNfc(password), parameters);
}

/** Verifies passwords; without a hash it takes as long and is false, so that nobody learns which names exist. */
export interface PasswordVerifier {
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

/** Makes the {@link PasswordVerifier}, and the hash that it verifies for names which do not exist. */
export async function createPasswordVerifier(): Promise<PasswordVerifier> {
  const dummy = await hashPassword('a password that nobody has');
  return {
    async verify(password, stored) {
      // A password that nobody can have chosen costs as much as one that can.
      const given = boundedNfc(password, maxLength);
      const right = await verify(stored ?? dummy, given ?? '');
      return right && stored !== undefined && given !== undefined;
    },
  };
}
