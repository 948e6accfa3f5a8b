import type { OutboundEvent, Topic, Unsent } from '#lib/events/event-bus.ts';
import type { Span, Tracing } from '#lib/observability/tracing.ts';

/**
 * Starts a span for each event that belongs to a trace. @returns a function that ends them, given the events
 * that were not acknowledged.
 */
export function startSendSpans(
  tracing: Tracing | undefined,
  topic: Topic,
  events: readonly OutboundEvent[],
): (unsent: readonly Unsent[]) => void {
  if (!tracing) return () => {};
  const spans = new Map<string, Span>();
  for (const { event } of events) {
    const { id, type, traceparent: parent } = event;
    if (parent === undefined) continue;
    const fields = { topic, event: type };
    spans.set(id, tracing.start({ name: `send ${topic}`, kind: 'producer', parent, fields }));
  }
  return (unsent) => {
    const failed = new Set(unsent.map(({ id }) => id));
    for (const [id, span] of spans) span.end(failed.has(id) ? { error: 'unsent' } : {});
  };
}
