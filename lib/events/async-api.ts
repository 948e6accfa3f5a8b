import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { keepText } from '#lib/cache/keep-text.ts';
import type { Topic } from '#lib/events/event.ts';

const require = createRequire(import.meta.url);

/** The parts of asyncapi.yaml (AsyncAPI 3.0) that programs read. */
export interface AsyncApi {
  channels: Record<
    string,
    {
      address: Topic;
      messages: Record<string, { $ref: string }>;
      bindings: { kafka: { partitions: number; topicConfiguration: Record<string, unknown> } };
    }
  >;
  components: {
    /** `name` is the event's type. */
    messages: Record<string, { name: string; payload: { $ref: string } }>;
    schemas: Record<string, object>;
  };
}

/** Reads the contract of events; parsed once per version of the file. */
export function readAsyncApi(file: URL): AsyncApi {
  const text = readFileSync(file, 'utf8');
  const json = keepText({
    name: 'events-contract',
    sources: [text],
    make: () => JSON.stringify((require('yaml') as typeof import('yaml')).parse(text)),
  });
  return JSON.parse(json) as AsyncApi;
}
