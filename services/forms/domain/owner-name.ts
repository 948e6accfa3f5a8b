/** A peer as its copy names it. */
export interface NamedPeer {
  /** What it calls itself. */
  owner: string;
  /** host[:port] of its address. */
  host: string;
  /** Another peer calls itself the same. */
  isNamesake: boolean;
}

/**
 * What people are told who asks: the peer's name, and its address beside it where the name alone does not say whose the answer will be,
 * because this instance or another peer has it, too.
 * @param ownName INSTANCE_NAME
 */
export function ownerName({ owner, host, isNamesake }: NamedPeer, ownName: string): string {
  return isNamesake || owner.toLowerCase() === ownName.toLowerCase() ? `${owner} (${host})` : owner;
}
