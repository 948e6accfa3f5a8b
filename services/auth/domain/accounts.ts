import { createHash } from 'node:crypto';
import { isMailbox } from '#lib/config/address-validators.ts';
import { type GivenRole, givenRoles, type Role } from '#lib/contracts/principal.ts';
import { canStandInPath } from '#lib/text/host-name.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { isName, nameRule } from '#lib/text/visible-text.ts';

const implied: Partial<Record<GivenRole, readonly GivenRole[]>> = {
  admin: ['admin', 'operator', 'user'],
  operator: ['operator', 'user'],
};

/** The roles as a sentence names them. */
export const roleNames = `${givenRoles.slice(0, -1).join(', ')} or ${givenRoles.at(-1)}`;

export function isGivenRole(text: unknown): text is GivenRole {
  return givenRoles.some((role) => role === text);
}

/**
 * Adds implied roles, admin ⊃ operator ⊃ user, and drops unknown ones (docs/interface.md, "Credentials"). The
 * finer roles imply none, so that an auditor changes nothing, not even what is the auditor's own.
 */
export function withImpliedRoles(given: readonly unknown[]): Role[] {
  return [...new Set(given.filter(isGivenRole).flatMap((role) => implied[role] ?? [role]))];
}

/** A person who can sign in with the built-in issuer. */
export interface Account {
  /** `sub` in tokens; never reused. */
  id: string;
  /** The username, which is also the subject. */
  name: string;
  role: GivenRole;
  /** When its password, role or state last changed, in full precision; absent for demo accounts. */
  changedAt?: string;
}

/** INVITED: has not chosen a password yet. */
export type AccountState = 'INVITED' | 'ACTIVE' | 'DISABLED';

const maxLength = 255;

/** Normalises a username: NFC, trimmed. @returns undefined for an invalid one. */
export function readAccountName(text: string): string | undefined {
  const name = readBoundedText(text, maxLength);
  if (!name) return undefined;
  return name.isWellFormed() && !/\p{Cc}/u.test(name) ? name : undefined;
}

/**
 * Reads the username of a new account: a {@link readAccountName} that {@link isName}. Older names stay as
 * they are.
 */
export function readNewName(text: string): string | undefined {
  const name = readAccountName(text);
  return name && canStandInPath(name) && isName(name) ? name : undefined;
}

/** The rule of {@link readNewName}. */
export const accountNameRule = `Must have 1 to 255 characters, ${nameRule}, and not be . or ..`;

export const emailRule = 'Must be one e-mail address, such as ann@example.org.';

/** Reads an e-mail address. @returns it in NFC; undefined for anything else. */
export function readEmail(text: string): string | undefined {
  const address = text.trim().normalize('NFC');
  return isMailbox(address) && !address.includes('<') && address.isWellFormed() ? address : undefined;
}

/** Sign-in attempts are counted by this digest, so that mistyped names are not stored. */
export function digestOfName(name: string): Buffer {
  return createHash('sha256').update(name).digest();
}

/** The publicly known password of demo accounts. */
export const demoPassword = 'demo';

const prefix = 'demo-';

/**
 * Accounts of demo mode (DEMO in docs/operations.md, "Settings"). They are not stored, so they disappear with
 * DEMO.
 */
export const demoAccounts: readonly Account[] = givenRoles.map((role) => ({
  id: `${prefix}${role}`,
  name: role,
  role,
}));

/** Whether an id is that of a demo account; all others are UUIDs. */
export function isDemoAccount(id: string): boolean {
  return id.startsWith(prefix);
}
