import type { EventBus } from '#lib/events/event-bus.ts';
import { sharedReader } from '#lib/events/reader.ts';
import { applyOutcome, type OutcomeDependencies } from '../commands/apply-outcome.ts';
import type { SubmissionAnswer } from '../domain/follower.ts';

/** Takes note of what peers said of the parts that they were sent. */
export function followOutcomes({ bus, ...dependencies }: OutcomeDependencies & { bus: EventBus }): void {
  const reader = sharedReader({ name: 'transactions', db: dependencies.db });
  bus.subscribe('accord.peer-outcomes', reader, ({ id, data }) =>
    applyOutcome(dependencies, { eventId: id, answer: data as SubmissionAnswer }),
  );
}
