import { isEndable } from '#lib/contracts/element-rules.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { keyOf } from '../transaction/values.ts';
import type { Part } from './part.ts';

/** A part as a request to withdraw finds it. */
export interface StandingPart extends Pick<Part, 'sid' | 'location' | 'name' | 'state' | 'reason' | 'shown'> {
  transaction: string;
  /** Of the transaction's context; empty for none. */
  object: string;
  /** The withdrawal of which the owner is told; null for none. */
  withdrawal: string | null;
  /** When the withdrawal took effect. */
  withdrawnAt: Date | null;
  /** The transaction at which the withdrawal was made; null for none. */
  withdrawalParent: string | null;
}

/**
 * Whether the owner is told to withdraw its part. It is not told if it has refused the part, or if this
 * instance has taken the part back. A part that was not acknowledged in time (`expired`) may be in force, so
 * its owner is told. An owner that is told before the part arrives refuses the part. The owner withdraws
 * processings only, so it is not told of a sent part without a processing that can be withdrawn.
 */
function canBeTold({ state, reason, shown }: Pick<Part, 'state' | 'reason' | 'shown'>): boolean {
  if (state === 'WAITING') return true;
  if (state === 'REFUSED' || (state === 'DROPPED' && reason !== 'expired')) return false;
  return shown.elements.some(
    (shownText) => shownText.identifier.startsWith('element/processing/') && isEndable(shownText),
  );
}

/** The owners that have not been told to withdraw their part, and can be. */
export function untoldOwners(
  parts: readonly Pick<Part, 'name' | 'location' | 'state' | 'reason' | 'shown' | 'withdrawal'>[],
): Pick<Part, 'name' | 'location'>[] {
  return parts.filter((part) => part.withdrawal === null && canBeTold(part));
}

/**
 * Chooses the parts whose owners a request tells.
 * @param peers base URLs; undefined: all.
 * @throws Failure `not-withdrawable` if a named peer has no part, with a pointer for each.
 */
export function chooseParts(parts: readonly StandingPart[], peers: string[] | undefined): StandingPart[] {
  const errors = (peers ?? []).flatMap((peer, place): Fault[] =>
    parts.some(({ location }) => location === peer)
      ? []
      : [
          {
            pointer: `/peers/${place}`,
            code: 'not-withdrawable',
            detail: 'is not the base URL of a peer that has a part of this transaction',
          },
        ],
  );
  if (errors.length > 0) throw fail('not-withdrawable', 'A named peer has no part.', { errors });
  return parts.filter(
    (part) => part.withdrawal === null && canBeTold(part) && (peers?.includes(part.location) ?? true),
  );
}

/** The withdrawals of the parts that a request names. */
export function partWithdrawals(parts: readonly StandingPart[], peers: string[] | undefined) {
  return parts.flatMap(({ location, withdrawal, withdrawnAt, withdrawalParent }) =>
    withdrawal !== null && withdrawnAt !== null && (peers?.includes(location) ?? true)
      ? [{ id: withdrawal, parent: withdrawalParent, at: withdrawnAt }]
      : [],
  );
}

/** Whether a part asks for conditions, which stand alone (docs/interface.md, "The consent context"). */
export function isOfConditions({ shown }: Pick<StandingPart, 'shown'>): boolean {
  return shown.elements.every(({ identifier }) => identifier.startsWith('element/conditions/'));
}

/**
 * The references `<key>@<host>` to the elements of parts, as in the layout of a child that asks for them
 * again.
 */
export function referencesOf(parts: readonly Pick<StandingPart, 'shown'>[]): string[] {
  const asked = parts.flatMap(({ shown }) => shown.elements);
  return [...new Set(asked.map(({ identifier }) => keyOf(identifier)))];
}
