import type { OperationObject } from '../../support/contract/contract-paths.ts';
import type { Credential } from './credentials.ts';

/**
 * Whose the thing is that is asked for: the caller's, somebody else's, or nobody's because it does not exist.
 */
export type Relation = 'own' | 'other' | 'none';

/** What becomes of a request, as far as rights go. */
export type Outcome = 'allowed' | 401 | 403 | 404;

/** An operation, as far as the contract tells rights. */
export interface Asked extends Pick<OperationObject, 'x-roles' | 'x-fresh' | 'tags'> {
  path: string;
  /** Others could have such a thing, too: else it is a list, which has what is one's own. */
  ofSomebody: boolean;
  /** The list of nobody's things is empty, and not missing. */
  emptyIfUnknown?: boolean;
}

/**
 * A receipt token opens the final page, the receipt, the child and the withdrawal alone (docs/interface.md,
 * "Credentials").
 */
const openToReceipts = new Set([
  '/consents/{txid}',
  '/consents/{txid}/child',
  '/consents/{txid}/withdraw',
  '/receipts/{txid}',
]);

/**
 * What must become of a request, by `x-roles` and the words of docs/interface.md, "Credentials" and
 * docs/interface.md alone: nothing here is shared with the code that is under test.
 */
export function expectedOutcome(asked: Asked, credential: Credential, relation: Relation): Outcome {
  const allowed = asked['x-roles'] ?? {};
  if (credential.refused) return credential.refused;
  const { roles, use } = credential;
  // "`t` alone and bad: 401", where such tokens are known; "a transaction token anywhere else: 403".
  if (use === 'garbled' && roles.length === 0) return asked.tags.includes('transactions') ? 401 : 403;
  if (use && !('transaction' in allowed) && roles.includes('transaction')) return 403;
  // Only the service that has the choices knows their sessions.
  if (use === 'choices' && !asked.tags.includes('transactions')) return 403;
  if (allowed.anonymous) return found(asked, relation);
  if (credential.name === 'no credential') return 401;
  const reaches = roles.flatMap((role) => allowed[role] ?? []);
  if (reaches.length > 0 && credential.stale && asked['x-fresh']) return 401;
  if (reaches.includes('any') || reaches.includes('read')) return found(asked, relation);
  if (!reaches.includes('own')) return 403;
  const foreign = relation !== 'own' || (credential.nobody && asked.ofSomebody);
  if (foreign) return isByPath(asked) ? 404 : 403;
  return use === 'receipt' && !openToReceipts.has(asked.path) ? 403 : 'allowed';
}

function found(asked: Asked, relation: Relation): Outcome {
  return relation === 'none' && isByPath(asked) && !asked.emptyIfUnknown ? 404 : 'allowed';
}

/** "Another's resource by path: 404; by query: 403" (docs/interface.md). */
function isByPath({ path }: Asked): boolean {
  return path.includes('{');
}
