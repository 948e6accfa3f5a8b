import { hash, verify } from '@node-rs/argon2';

/** argon2id with the parameters of OWASP's Password Storage Cheat Sheet. */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const minLength = 12;
const maxLength = 256;

/** What is wrong with a password that somebody chooses, in a word; undefined if nothing is. */
export type PasswordFault = 'short' | 'long' | 'same-as-name';

/** Checks a new password by length alone, as NIST SP 800-63B advises, and that it is not the name again. */
export function checkNewPassword(password: string, name: string): PasswordFault | undefined {
  const length = [...password.normalize('NFC')].length;
  if (length < minLength) return 'short';
  if (length > maxLength) return 'long';
  return password.toLowerCase() === name.toLowerCase() ? 'same-as-name' : undefined;
}

/** Hashes a password with a salt of its own; some 20 ms, on purpose. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFC'), parameters);
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
      // A password longer than any that can be chosen must not cost more than one that can.
      const given = [...password.normalize('NFC')].slice(0, maxLength + 1).join('');
      const right = await verify(stored ?? dummy, given);
      return right && stored !== undefined;
    },
  };
}
