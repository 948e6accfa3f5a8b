import type { TopicEvents } from '#lib/contracts/events.gen.ts';

/** The topics of asyncapi.yaml; `npm run topics` makes them. */
export type Topic = keyof TopicEvents;

/**
 * A CloudEvents 1.0 event: a fact with ids, states and the aggregate's version, never an answer, a contact datum or content
 * (docs/webhooks.md).
 */
export interface AccordEvent {
  id: string;
  /** `io.accord.<name>.v1` */
  type: string;
  /** The instance's base URL. */
  source: string;
  /** The aggregate's id. */
  subject: string;
  /** RFC 3339 */
  time: string;
  data: Record<string, unknown>;
  /** Extension: the id of the request that brought it about, as in the log. */
  requestid?: string;
}

/** An event on its way: where to, and the key that keeps one aggregate's events on one partition. */
export interface OutboundEvent {
  topic: Topic;
  key: string;
  event: AccordEvent;
}
