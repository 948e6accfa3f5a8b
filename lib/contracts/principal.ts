/**
 * Roles (docs/interface.md, "Credentials"). `key` is the role of an API key, with the rights of an operator.
 * `decision` is the role of an API key that only asks for decisions. `peer` is a partner instance that signed
 * its request.
 */
export type Role = 'admin' | 'operator' | 'key' | 'decision' | 'user' | 'transaction' | 'peer' | 'anonymous';

/** The authenticated caller of a request. */
export interface Principal {
  /** All roles held, implied ones included (admin ⊃ operator ⊃ user). */
  roles: readonly Role[];
  /** The name recorded as author: a username, or the name of a key. */
  name: string;
  /** The person's own subject (docs/interface.md, "Terms"); absent for a key. */
  subject?: string;
  /** The person's e-mail address and telephone number, if the issuer has verified them. */
  emailAddress?: string;
  phoneNumber?: string;
  /** When the person signed in, in epoch seconds; absent without the claim `auth_time`. */
  signedInAt?: number;
  /** What requests are counted by: `key:<id>`, `user:<issuer subject>`, `transaction:<txid>`, `peer:<id>`. */
  account: string;
  /** Role `decision`: the only elements that it may ask about; absent for all. */
  elements?: readonly string[];
  /** For a transaction token: the transaction, and the token's use. */
  transaction?: {
    id: string;
    use: 'tx' | 'receipt';
    epoch: number;
    /** Expired: valid only for the result of a committed transaction, as long as its receipt is. */
    isExpired?: boolean;
  };
}

/** A request without credentials. */
export const anonymous: Principal = Object.freeze({
  roles: ['anonymous'] as const,
  name: 'anonymous',
  account: 'anonymous',
});

/** Whether the principal may act for any subject: admin, operator or key. */
export function isPrivileged(principal: Principal): boolean {
  return principal.roles.some((role) => role === 'admin' || role === 'operator' || role === 'key');
}

/** Whether a person acts for others: an administrator or operator, not a program with an API key. */
export function isStaff(principal: Principal): boolean {
  return isPrivileged(principal) && !principal.roles.includes('key');
}
