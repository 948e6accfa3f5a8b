import { type CarriedEvent, type Check, type Evidence, findDoubles } from './evidence.ts';

const eventNames: Record<string, string> = {
  CREATED: 'created',
  SUBMITTED: 'submitted',
  COMMITTED: 'committed',
  CANCELLED: 'cancelled',
  TIMEOUT: 'timedout',
  ROLLBACK: 'rolledback',
};

type Change = Pick<CarriedEvent, 'transaction' | 'version' | 'state'>;

const writeChange = ({ transaction, version, state }: Change) => `${transaction} ${version} ${state}`;
const writeEvent = (event: Omit<CarriedEvent, 'id'>) => `${writeChange(event)} ${event.type}`;
const eventOf = (change: Change) => `${writeChange(change)} io.accord.consent.${eventNames[change.state]}.v1`;
const tell = ({ transaction, version, state }: Change) =>
  `${transaction} became ${state} (version ${version})`;

/** The events of withdrawals, by the records that withdraw. */
function withdrawals({ records, versions }: Evidence['stored']): Set<string> {
  const withdrawing = new Set(
    records.flatMap(({ transaction, state, withdraws }) =>
      state === 'COMMITTED' && withdraws ? transaction : [],
    ),
  );
  return new Set(
    versions
      .filter(({ transaction, state }) => state === 'COMMITTED' && withdrawing.has(transaction))
      .map((change) => `${writeChange(change)} io.accord.consent.withdrawn.v1`),
  );
}

/**
 * I5: every change of state and every withdrawal has exactly one event, and every event has its change of
 * state or withdrawal.
 */
export const changesHaveEvents: Check = ({ stored }) => {
  const told = new Set(stored.events.map(writeEvent));
  const withdrawn = withdrawals(stored);
  const changes = new Set([...stored.versions.map(eventOf), ...withdrawn]);
  return [
    ...stored.versions
      .filter((change) => !told.has(eventOf(change)))
      .map((change) => `${tell(change)} without an event`),
    ...[...withdrawn].filter((event) => !told.has(event)).map((event) => `there is no event ${event}`),
    ...findDoubles(stored.events.map(writeEvent)).map((event) => `there are two events of ${event}`),
    ...stored.events
      .filter((event) => !changes.has(writeEvent(event)))
      .map((event) => `an event tells ${writeEvent(event)}, which did not happen`),
    ...(stored.waiting > 0 ? [`${stored.waiting} events and messages were never sent`] : []),
  ];
};

/** I5: every event was carried by a topic at least once, as it was written. */
export const eventsWereCarried: Check = ({ stored, carried }) => {
  if (!carried) return [];
  const ids = new Map(carried.map((event) => [event.id, event]));
  return stored.events.flatMap((event) => {
    const found = ids.get(event.id);
    if (!found) return [`${tell(event)}, and no topic carried its event ${event.id}`];
    return writeEvent(found) === writeEvent(event)
      ? []
      : [`event ${event.id} was written ${writeEvent(event)} and carried ${writeEvent(found)}`];
  });
};

/** I1, I2: a webhook was called for every event, and never as if one event were two. */
export const webhooksWereCalled: Check = ({ stored, received }) => {
  if (!received) return [];
  const accepted = new Set(received.filter((call) => call.accepted).map(({ event }) => event.id));
  const deliveries = new Set(received.map(({ delivery, event }) => `${event.id} ${delivery}`));
  const doubled = findDoubles([...deliveries].map((each) => each.split(' ', 1)[0] as string));
  return [
    ...stored.events
      .filter(({ id }) => !accepted.has(id))
      .map((event) => `${tell(event)}, and the webhook never got its event ${event.id}`),
    ...doubled.map((id) => `the webhook got event ${id} in two deliveries`),
    ...unknownCalls({ stored, received }),
  ];
};

function unknownCalls({ stored, received = [] }: Pick<Evidence, 'stored' | 'received'>): string[] {
  const ids = new Set(stored.events.map(({ id }) => id));
  const unknown = new Set(
    received
      .map(({ event }) => event)
      .filter(({ id }) => !ids.has(id))
      .map(({ id }) => id),
  );
  return [...unknown].map((id) => `the webhook got event ${id}, which was never written`);
}

/** Poison is put aside, once each, and named. */
export const poisonIsParked: Check = ({ stored, poison }) => {
  const parked = new Set(stored.deadLetters);
  return (poison ?? [])
    .filter((id) => !parked.has(id))
    .map((id) => `the poison ${id} is not in dead_letters`);
};

/** I9: no process logged an internal fault, ended by itself or leaked resources. */
export const processesBehave: Check = ({ misconduct }) => [...(misconduct ?? [])];
