import type { Parts } from '../commands/dependencies.ts';

/** What the handlers of this service work with; built in compose.ts. */
export type Dependencies = Parts;

/** The id of the peer that signed a request. */
export function peerIdOf(account: string): string {
  return account.slice('peer:'.length);
}
