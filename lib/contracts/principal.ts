/**
 * Application roles (interface.md, Authentication). `key` is an API key's own role: it acts as operator, never admin. `peer` is a partner
 * instance that signed its request.
 */
export type Role = 'admin' | 'operator' | 'key' | 'user' | 'transaction' | 'peer' | 'anonymous';

/** Who makes a request, as far as credentials prove it. */
export interface Principal {
  /** All roles held, implied ones included (admin ⊃ operator ⊃ user). */
  roles: readonly Role[];
  /** The name shown as author: a person's username or a key's name. */
  name: string;
  /** The subject this person is (docs/interface.md, "Terms"), absent for a key. */
  subject?: string;
  /** What requests are counted by: `key:<id>`, `user:<issuer subject>`, `transaction:<txid>`, `peer:<id>`. */
  account: string;
  /** For a transaction token: the transaction, and what the token may do. */
  transaction?: {
    id: string;
    use: 'tx' | 'receipt';
    epoch: number;
    /** Past its life: good for the result of a committed transaction alone, while its receipt is valid. */
    isExpired?: boolean;
  };
}

/** A request without credentials. */
export const anonymous: Principal = Object.freeze({
  roles: ['anonymous'] as const,
  name: 'anonymous',
  account: 'anonymous',
});

/** True if the principal may act for any subject: admin, operator or key. */
export function isPrivileged(principal: Principal): boolean {
  return principal.roles.some((role) => role === 'admin' || role === 'operator' || role === 'key');
}
