/** How a state is drawn: in force, under way, over, or waiting for a person to act. */
export type Shape = 'in-force' | 'under-way' | 'over' | 'needs-you';

/** A state as a shape and a word: a colour alone would be lost on some readers. */
export interface StateMark {
  shape: Shape;
  word: string;
}

/** The shape of every state that the API knows, by the name of its group in the catalogues. */
const shapes: Record<string, Record<string, Shape>> = {
  transactionState: {
    CREATED: 'under-way',
    SUBMITTED: 'under-way',
    COMMITTED: 'in-force',
    CANCELLED: 'over',
    TIMEOUT: 'over',
    ROLLBACK: 'over',
  },
  recordStatus: { VALID: 'in-force', EXPIRED: 'over', OBSOLETE: 'over', IRRELEVANT: 'over' },
  entryStatus: {
    ACTIVE: 'in-force',
    DRAFT: 'under-way',
    INACTIVE: 'over',
    ARCHIVED: 'over',
    DELETED: 'over',
  },
  erasureState: {
    REQUESTED: 'needs-you',
    RUNNING: 'under-way',
    HELD: 'needs-you',
    DONE: 'over',
    REFUSED: 'over',
  },
  webhookState: { ACTIVE: 'in-force', FAILING: 'needs-you', PAUSED: 'needs-you' },
  deliveryStatus: { PENDING: 'under-way', DELIVERED: 'in-force', FAILED: 'needs-you' },
  messageStatus: { PENDING: 'under-way', SENT: 'in-force', FAILED: 'needs-you', EXPIRED: 'over' },
  partState: {
    WAITING: 'under-way',
    SENDING: 'under-way',
    HELD: 'under-way',
    ACCEPTED: 'in-force',
    REFUSED: 'needs-you',
    DROPPED: 'over',
  },
  noticeState: {
    QUEUED: 'under-way',
    DELIVERED: 'under-way',
    ACKNOWLEDGED: 'in-force',
    KEPT: 'in-force',
    OVERDUE: 'needs-you',
    FAILED: 'needs-you',
    UNSUPPORTED: 'needs-you',
  },
  peerState: { PAIRED: 'in-force', QUARANTINED: 'needs-you', ENDED: 'over' },
  accountState: { INVITED: 'under-way', ACTIVE: 'in-force', DISABLED: 'over' },
};

/**
 * The mark of a state of the API.
 * @param group such as `webhookState`; the word is the message `<group>.<state>`.
 */
export function stateMark(
  reader: { word(group: string, code: string): string },
  group: string,
  state: string,
): StateMark {
  return { shape: shapes[group]?.[state] ?? 'under-way', word: reader.word(group, state) };
}
