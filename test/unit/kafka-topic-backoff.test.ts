import { expect, it } from 'vitest';
import { createTopicBackoff } from '#lib/events/kafka/sender.ts';

it('pauses a topic for twice as long after each failure, up to 5 s, until a send succeeds', () => {
  let now = 0;
  const backoff = createTopicBackoff(() => now);
  const pauseOf = () => {
    const began = now;
    backoff.failed('accord.models');
    while (backoff.pausedTopics().includes('accord.models')) now += 10;
    return now - began;
  };
  expect(Array.from({ length: 8 }, pauseOf)).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
  expect(backoff.pausedTopics()).toEqual([]);
  backoff.succeeded('accord.models');
  expect(pauseOf()).toBe(100);
});

it('backs off each topic on its own', () => {
  const backoff = createTopicBackoff(() => 0);
  backoff.failed('accord.models');
  expect(backoff.pausedTopics()).toEqual(['accord.models']);
  backoff.failed('accord.keys');
  backoff.succeeded('accord.models');
  expect(backoff.pausedTopics()).toEqual(['accord.keys']);
});
