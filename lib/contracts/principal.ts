/** Roles that an account or a client can have, and a claim of an outside issuer can name (docs/roles.md). */
export const givenRoles = ['admin', 'operator', 'clerk', 'author', 'auditor', 'technician', 'user'] as const;
export type GivenRole = (typeof givenRoles)[number];

/**
 * Roles (docs/interface.md, "Credentials"). `key` is the role of an API key, with the rights of an operator.
 * `decision` is the role of an API key that only asks for decisions. `choices` is a person in the own
 * choices. `peer` is a partner instance that signed its request.
 */
export type Role = GivenRole | 'key' | 'decision' | 'transaction' | 'choices' | 'peer' | 'anonymous';

/**
 * On which resources a role may use an operation (`x-roles`): on every one; on every one, only to read, so
 * that nothing is changed and no response has a transaction token; or only on its own.
 */
export type Reach = 'any' | 'read' | 'own';

/** The authenticated caller of a request. */
export interface Principal {
  /** All roles held, implied ones included (admin ⊃ operator ⊃ user). */
  roles: readonly Role[];
  /**
   * How far its roles of the organisation reach in the operation that it calls: `organisationReach`. Absent
   * for a caller that acts for itself alone.
   */
  reach?: 'any' | 'read';
  /** The name recorded as author: a username, or the name of a key. */
  name: string;
  /** The person's own subject (docs/interface.md, "Terms"); absent for a key. */
  subject?: string;
  /** The person's e-mail address and telephone number, if the issuer has verified them. */
  emailAddress?: string;
  phoneNumber?: string;
  /** When the person signed in, in epoch seconds; absent without the claim `auth_time`. */
  signedInAt?: number;
  /**
   * What requests are counted by: `key:<id>`, `user:<issuer subject>`, `transaction:<txid>`,
   * `choices:<subject id>`, `peer:<id>`.
   */
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
  /** The session of a person in the own choices (role `choices`). */
  choices?: ChoicesSession;
}

/** A session of a person in the own choices (docs/choices.md). */
export interface ChoicesSession {
  /** Id of the subject. */
  person: string;
  /** Raising that of the subject ends the session. */
  epoch: number;
  startedAt: Date;
  /**
   * Keyed digest of an address, base64url: the session sees only what parts brought that were confirmed by
   * it. Absent: everything.
   */
  address?: string;
  /** Of a session in a URL: how the page is shown. Absent: the session is in a cookie. */
  frame?: ChoicesFrame;
}

/** How a page of choices is shown that another page links to or has in a frame. */
export interface ChoicesFrame {
  language?: string;
  returnUrl?: string;
  iframeOrigin?: string;
}

/** A request without credentials. */
export const anonymous: Principal = Object.freeze({
  roles: ['anonymous'] as const,
  name: 'anonymous',
  account: 'anonymous',
});

/** Roles in which an organisation works: they are about any subject, never about the caller's own. */
const organisationRoles: readonly Role[] = [
  'admin',
  'operator',
  'key',
  'clerk',
  'author',
  'auditor',
  'technician',
];

/**
 * The widest reach that an operation gives to the caller as one of the organisation.
 * @param allowed `x-roles` of the operation.
 * @returns undefined if it gives none: the caller reaches only what is its own.
 */
export function organisationReach(
  roles: readonly Role[],
  allowed: Readonly<Partial<Record<Role, Reach>>>,
): 'any' | 'read' | undefined {
  const reaches = roles.filter((role) => organisationRoles.includes(role)).map((role) => allowed[role]);
  return reaches.includes('any') ? 'any' : reaches.find((reach) => reach === 'read');
}

/** Whether the principal may use the operation on the resources of any subject. */
export function isPrivileged({ reach }: Principal): boolean {
  return reach !== undefined;
}

/** Whether the principal only reads: its responses have no link with which it could act as the subject. */
export function isReader({ reach }: Principal): boolean {
  return reach === 'read';
}

/** Whether a person acts for others, not a program with an API key. */
export function isStaff(principal: Principal): boolean {
  return isPrivileged(principal) && !principal.roles.includes('key');
}

/**
 * Whether the principal may say who gave the answers that it sends, and how: administrators, operators and
 * API keys, whose programs show forms of their own. What other roles send is recorded as theirs.
 */
export function maySayWhoAnswered(principal: Principal): boolean {
  const isTrusted = principal.roles.some((role) => role === 'admin' || role === 'operator' || role === 'key');
  return isPrivileged(principal) && isTrusted;
}
