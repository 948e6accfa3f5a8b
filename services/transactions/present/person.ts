import type { Principal } from '#lib/contracts/principal.ts';
import type { Erasure } from '../erasure/erasure.ts';
import type { Subject } from '../person/store.ts';
import type { Notice } from '../sent-parts/notice.ts';
import type { Hold } from '../standing/holds-store.ts';
import { presentNotice } from './transaction.ts';

/** The facts of an erasure that its subject may read, too; members without a value are left out. */
export function presentErasureFacts(erasure: Erasure) {
  const { id, peer, peers, onlyPeers, state, reason, ground, createdAt, dueAt, endedAt } = erasure;
  return {
    id,
    peer: peer ?? undefined,
    at: onlyPeers ? peers.map(({ location }) => location) : undefined,
    state,
    reason: reason ?? undefined,
    ground: ground ?? undefined,
    created: createdAt.toISOString(),
    due: dueAt.toISOString(),
    done: endedAt?.toISOString(),
  };
}

/** The representation of an erasure (openapi.yaml, `Erasure`); members without a value are left out. */
export function presentErasure(erasure: Erasure, notices: readonly Notice[], principal: Principal) {
  const { reference, peer, counts, peers } = erasure;
  return {
    ...presentErasureFacts(erasure),
    subject: reference,
    counts: { transactions: 0, records: 0, receipts: 0, messages: 0, ...counts },
    peers: peers.flatMap(({ name, location }) => {
      if (location === peer) return [];
      // The leader of a part is not asked: it decides about its own data.
      const {
        state = 'UNSUPPORTED',
        outcome,
        since,
      } = notices.find((notice) => notice.location === location) ?? {};
      return [{ name, location, state, outcome: outcome ?? undefined, since: since?.toISOString() }];
    }),
    recipients: notices
      .filter(({ kind }) => kind === 'RECIPIENT')
      .map((notice) => presentNotice(notice, principal)),
  };
}

/** The representation of a hold (openapi.yaml, `Hold`). */
export function presentHold({ reason, restrict, since, until }: Hold) {
  return { reason, restrict, since: since.toISOString(), until: until?.toISOString() };
}

/** `Timestamp` members are epoch milliseconds (docs/interface.md, "Terms"). */
export function presentSubject({ id, name, emailAddress, defaultLanguage, createdAt }: Subject) {
  return {
    id,
    name,
    emailAddress: emailAddress ?? undefined,
    defaultLanguage: defaultLanguage ?? undefined,
    creationTimestamp: createdAt.getTime(),
  };
}
