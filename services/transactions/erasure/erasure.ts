import { createHmac, randomBytes } from 'node:crypto';
import { randomId } from '#lib/ids/random-ids.ts';
import { type ConsentContext, contextDefaults } from '../transaction/context.ts';

/**
 * REQUESTED: by the person or a peer, not decided. RUNNING: a job erases until it is DONE. HELD: a hold is in
 * force (docs/erasure.md).
 */
export type ErasureState = 'REQUESTED' | 'RUNNING' | 'HELD' | 'DONE' | 'REFUSED';

/** How much has been erased. */
export interface ErasureCounts {
  transactions: number;
  records: number;
  receipts: number;
  messages: number;
}

/** A peer that has data of the person, too. */
export interface ErasurePeer {
  name: string;
  location: string;
}

/** The erasure of a subject. */
export interface Erasure {
  id: string;
  /** The id of the subject. */
  reference: string;
  /** The name of the subject; null as soon as the erasure has ended. */
  subject: string | null;
  /**
   * Base URL of the peer that asks: only what it has sent, and the transactions based on it, are erased.
   * Null: all data of the subject.
   */
  peer: string | null;
  state: ErasureState;
  reason: string | null;
  ground: string | null;
  counts: Partial<ErasureCounts>;
  peers: ErasurePeer[];
  /** Whether the person wanted `peers` alone to be asked: nothing is erased here, and it is DONE at once. */
  onlyPeers: boolean;
  createdAt: Date;
  dueAt: Date;
  endedAt: Date | null;
}

/**
 * What a transaction keeps of its context, with the defaults of the other fields, but not updatable. The
 * subject is random, and another one in each transaction.
 */
export function erasedContext({
  origin,
  validity,
  confirmation,
}: Pick<ConsentContext, 'origin' | 'validity' | 'confirmation'>): ConsentContext {
  const subject = `erased:${randomId()}`;
  const kept = { origin, confirmation, ...(validity && { validity }) };
  return { ...contextDefaults, subject, ...kept, updatable: false };
}

/**
 * Recognises the subject of an erasure by its name, after the name was erased.
 * @param peppers entries of `erasure-pepper`: the first makes digests, all recognise.
 */
export function createSubjectDigest(peppers: readonly Uint8Array[]) {
  const digestWith = (pepper: Uint8Array, subject: string) =>
    createHmac('sha256', pepper).update(subject).digest();
  return {
    make: (subject: string): Buffer => digestWith(peppers[0] ?? randomBytes(32), subject),
    /** The digests that a name can have. */
    all: (subject: string): Buffer[] => peppers.map((pepper) => digestWith(pepper, subject)),
  };
}

export type SubjectDigest = ReturnType<typeof createSubjectDigest>;
