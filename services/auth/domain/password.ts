import { hash, verify } from '@node-rs/argon2';
import { boundedNfc, toNfc } from '#lib/text/nfc.ts';

/** argon2id with the parameters of the OWASP Password Storage Cheat Sheet. */
const parameters = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const minLength = 12;
const maxLength = 256;

/** Why a new password is rejected. */
export type PasswordFault = 'short' | 'long' | 'same-as-name';

/** How to fix each fault. */
export const passwordFaults: Record<PasswordFault, string> = {
  short: 'The password must have at least 12 characters.',
  long: 'The password must have at most 256 characters.',
  'same-as-name': 'The password must differ from the username.',
};

/** Checks a new password: its length, as NIST SP 800-63B advises, and that it differs from the username. */
export function checkNewPassword(password: string, name: string): PasswordFault | undefined {
  const normalised = boundedNfc(password, maxLength);
  if (normalised === undefined) return 'long';
  if ([...normalised].length < minLength) return 'short';
  return password.toLowerCase() === name.toLowerCase() ? 'same-as-name' : undefined;
}

/** Hashes a password with a random salt; takes about 20 ms by design. */
export function hashPassword(password: string): Promise<string> {
  return hash(toNfc(password), parameters);
}

/** Hashes a password that everybody knows, as those of demo accounts; takes the least time. */
export function hashPublicPassword(password: string): Promise<string> {
  return hash(toNfc(password), { ...parameters, memoryCost: 8, timeCost: 1 });
}

/**
 * Verifies passwords. Without a stored hash it takes as long and returns false, so that timing does not
 * reveal usernames.
 */
export interface PasswordVerifier {
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

/** Made once for a process. */
let dummyHash: Promise<string> | undefined;

export async function createPasswordVerifier(): Promise<PasswordVerifier> {
  dummyHash ??= hashPassword('dummy for unknown usernames');
  const dummy = await dummyHash;
  return {
    async verify(password, stored) {
      // A password that is too long takes as long as any other.
      const given = boundedNfc(password, maxLength);
      const right = await verify(stored ?? dummy, given ?? '');
      return right && stored !== undefined && given !== undefined;
    },
  };
}
