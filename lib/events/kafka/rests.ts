import type { Topic } from '#lib/events/event.ts';

/** Topics that take nothing at the moment. */
export interface Rests {
  failed(topic: Topic): void;
  worked(topic: Topic): void;
  /** Those that are to be left alone now. */
  now(): Topic[];
}

const leastMs = 100;
/** As long as a row waits that could not be sent (outbox-relay.ts). */
const mostMs = 5_000;

/** Each failure in a row lets a topic rest for twice as long. */
export function createRests(clock = () => performance.now()): Rests {
  const resting = new Map<Topic, { until: number; ms: number }>();
  return {
    failed(topic) {
      const ms = Math.min(mostMs, 2 * (resting.get(topic)?.ms ?? leastMs / 2));
      resting.set(topic, { until: clock() + ms, ms });
    },
    worked: (topic) => void resting.delete(topic),
    now: () => [...resting].filter(([, { until }]) => until > clock()).map(([topic]) => topic),
  };
}
