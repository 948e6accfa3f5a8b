import type { EventBus } from '#lib/events/event-bus.ts';
import { sharedReader } from '#lib/events/reader.ts';
import { applyOutcome, type OutcomeDependencies } from '../commands/apply-outcome.ts';
import type { SubmissionAnswer } from '../domain/follower.ts';
import { createLateAnswers } from '../queries/late-answers.ts';

const consumer = 'transactions';

/** Takes note of what peers said of the parts that they were sent. */
export function followOutcomes({
  bus,
  ...dependencies
}: Omit<OutcomeDependencies, 'consumer' | 'applyLate'> & { bus: EventBus }): void {
  const { db, instance } = dependencies;
  const applyLate = createLateAnswers(db, { consumer, source: instance.baseUrl });
  bus.subscribe('accord.peer-outcomes', sharedReader({ name: consumer, db }), ({ id, data }) =>
    applyOutcome({ ...dependencies, consumer, applyLate }, { eventId: id, answer: data as SubmissionAnswer }),
  );
}
