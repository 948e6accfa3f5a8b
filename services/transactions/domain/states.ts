/** States of a transaction (interface.md, "States and transitions"). */
export const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;
export type State = (typeof states)[number];

/** What moves a transaction from one state to another. */
export type Trigger = 'commit' | 'submit' | 'confirm' | 'cancel' | 'time-out' | 'roll-back';

/**
 * The one state table (docs/interface.md, "States"): types, SQL checks, API and tests follow it.
 * A trigger that is absent for a state is not possible in it.
 */
export const transitions: Readonly<Record<State, Partial<Record<Trigger, State>>>> = {
  CREATED: { commit: 'COMMITTED', submit: 'SUBMITTED', cancel: 'CANCELLED', 'time-out': 'TIMEOUT' },
  SUBMITTED: { confirm: 'COMMITTED', cancel: 'CANCELLED', 'time-out': 'TIMEOUT', 'roll-back': 'ROLLBACK' },
  COMMITTED: {},
  CANCELLED: {},
  TIMEOUT: {},
  ROLLBACK: {},
};

/** A final state is left by no trigger. */
export function isFinal(state: State): boolean {
  return Object.keys(transitions[state]).length === 0;
}

/** The states that a trigger leaves. */
export function statesBefore(trigger: Trigger): State[] {
  return states.filter((state) => transitions[state][trigger] !== undefined);
}

/** What the deadline is to a transaction that is open: the subject's time is over, or that of the peers that were to hold. */
const atDeadline: Readonly<Partial<Record<State, Trigger>>> = { CREATED: 'time-out', SUBMITTED: 'roll-back' };

/** The open states, and the one that each has from its deadline on. */
export const afterDeadline: readonly (readonly [State, State])[] = states.flatMap((state) => {
  const trigger = atDeadline[state];
  const next = trigger && transitions[state][trigger];
  return next ? [[state, next] as const] : [];
});

/**
 * The state as any reader sees it: a deadline that has passed counts at once, before the sweeper writes it.
 * @param transaction.leader one that has a leader has no deadline: its leader alone decides. @param now the database's time.
 */
export function stateAt(
  { state, expiresAt, leader = null }: { state: State; expiresAt: Date; leader?: object | null },
  now: Date,
): State {
  if (leader) return state;
  const next = expiresAt <= now ? afterDeadline.find(([open]) => open === state)?.[1] : undefined;
  return next ?? state;
}
