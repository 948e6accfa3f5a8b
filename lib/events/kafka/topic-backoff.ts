import type { Topic } from '#lib/events/event.ts';

/** Exponential back-off for topics that cannot be written. */
export interface TopicBackoff {
  failed(topic: Topic): void;
  succeeded(topic: Topic): void;
  /** Topics to which nothing should be sent now. */
  pausedTopics(): Topic[];
}

const minMs = 100;
/** The same bound as the back-off of an outbox row (outbox-relay.ts). */
const maxMs = 5_000;

/** Pauses a topic after a failed send; each further failure in a row doubles the pause. */
export function createTopicBackoff(clock = () => performance.now()): TopicBackoff {
  const pauses = new Map<Topic, { until: number; ms: number }>();
  return {
    failed(topic) {
      const ms = Math.min(maxMs, 2 * (pauses.get(topic)?.ms ?? minMs / 2));
      pauses.set(topic, { until: clock() + ms, ms });
    },
    succeeded: (topic) => void pauses.delete(topic),
    pausedTopics: () => [...pauses].filter(([, { until }]) => until > clock()).map(([topic]) => topic),
  };
}
