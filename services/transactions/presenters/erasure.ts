import type { Erasure } from '../domain/erasure.ts';
import type { Hold } from '../queries/holds.ts';

/** The representation of an erasure (openapi.yaml, `Erasure`); members without a value are left out. */
export function presentErasure(erasure: Erasure) {
  const { id, reference, state, reason, ground, counts, peers, createdAt, dueAt, endedAt } = erasure;
  return {
    id,
    subject: reference,
    state,
    reason: reason ?? undefined,
    ground: ground ?? undefined,
    created: createdAt.toISOString(),
    due: dueAt.toISOString(),
    done: endedAt?.toISOString(),
    counts: { transactions: 0, records: 0, receipts: 0, messages: 0, ...counts },
    // Peers are not told of erasures yet.
    peers: peers.map(({ name, location }) => ({ name, location, state: 'UNSUPPORTED' })),
  };
}

/** The representation of a hold (openapi.yaml, `Hold`). */
export function presentHold({ reason, restrict, since, until }: Hold) {
  return { reason, restrict, since: since.toISOString(), until: until?.toISOString() };
}
