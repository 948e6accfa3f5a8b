import type { StoredContext } from './transaction.ts';

const hourMs = 3_600_000;
/** How long a part is tried (federation.md, "Answers" 7). */
const hours: Readonly<Record<StoredContext['peerCommit'], number>> = { independent: 30 * 24, together: 24 };
/** The owner's clock may be wrong, and its answer may have been lost on the last try. */
const graceMs = hourMs;

/** Until when peers' parts of a transaction submitted now are tried; under `together` also until when all of them must be held. */
export function deliveryDeadline({ peerCommit }: Pick<StoredContext, 'peerCommit'>, now: Date): Date {
  return new Date(now.getTime() + hours[peerCommit] * hourMs);
}

/** Until when the owner of a part can open it. */
export function sealExpiry(context: Pick<StoredContext, 'peerCommit'>, now: Date): Date {
  return new Date(deliveryDeadline(context, now).getTime() + graceMs);
}
