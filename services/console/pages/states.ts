/** How a state is drawn: in force, under way, over, or waiting for a person to act. */
export type Shape = 'in-force' | 'under-way' | 'over' | 'needs-you';

/** A state as a shape and a word: a colour alone would be lost on some readers. */
export interface StateMark {
  shape: Shape;
  word: string;
}

/** The states of the API by their shape. Most states mean the same of all things. */
const statesByShape: Record<Shape, string> = {
  'in-force':
    'COMMITTED VALID ACTIVE SENT ANSWERED ACCEPTED ACKNOWLEDGED KEPT PAIRED COSIGNING deliveryStatus.DELIVERED',
  'under-way': 'CREATED SUBMITTED DRAFT RUNNING PENDING WAITING PICKED SENDING HELD QUEUED DELIVERED INVITED',
  over: `CANCELLED TIMEOUT ROLLBACK EXPIRED OBSOLETE IRRELEVANT INACTIVE ARCHIVED DELETED DONE DROPPED
    ENDED DISABLED CLOSED SKIPPED UNSUBSCRIBED erasureState.REFUSED`,
  'needs-you': `UNSURE REQUESTED FAILING PAUSED FAILED REFUSED OVERDUE AWAY REFUSING UNSUPPORTED QUARANTINED erasureState.HELD
    partState.EXPIRED`,
};

const shapes = new Map(
  Object.entries(statesByShape).flatMap(([shape, states]) =>
    states.split(/\s+/).map((state) => [state, shape as Shape] as const),
  ),
);

/**
 * The mark of a state of the API.
 * @param group such as `webhookState`; the word is the message `<group>.<state>`.
 */
export function stateMark(
  reader: { word(group: string, code: string): string },
  group: string,
  state: string,
): StateMark {
  const shape = shapes.get(`${group}.${state}`) ?? shapes.get(state) ?? 'under-way';
  return { shape, word: reader.word(group, state) };
}
