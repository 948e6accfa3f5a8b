import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The only attributes that a span may have, so that no answer, subject, token or address slips in with an
 * object (docs/security.md).
 */
export interface SpanFields {
  /** The service whose code runs; in standalone mode all services share a process. */
  service?: string | undefined;
  /** An operationId of openapi.yaml, or the name of an operation for other services. */
  operation?: string | undefined;
  method?: string | undefined;
  /** The path in openapi.yaml, with the names of its parameters; never the path of a request. */
  route?: string | undefined;
  /** Status of a response. */
  status?: number | undefined;
  topic?: string | undefined;
  /** Type of an event. */
  event?: string | undefined;
  /** Id of a peer. */
  peer?: string | undefined;
  /** Id of a webhook. */
  webhook?: string | undefined;
  /** Class of a failure. */
  error?: string | undefined;
}

/** A span to start. */
export interface NewSpan {
  name: string;
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** `traceparent` (W3C Trace Context) of the parent, which must be trusted. Absent: a new trace begins. */
  parent?: string | undefined;
  /** By `performance.now()`; default: now. */
  startedAt?: number;
  fields?: SpanFields;
}

/** An open span. */
export interface Span {
  /** Its own `traceparent`, the parent of further spans. */
  readonly traceparent: string;
  end(fields: SpanFields, name?: string): void;
}

/** Exports the spans of a process (docs/operations.md, "Traces"). */
export interface Tracing {
  start(span: NewSpan): Span;
  /** Exports the spans that are still queued, if the collector answers in time. */
  stop(): Promise<void>;
}

/** Where the current work stands in a trace. It follows asynchronous calls. */
interface Scope {
  tracing: Tracing;
  traceparent(): string;
}

const storage = new AsyncLocalStorage<Scope>();

/** The `traceparent` of the current work; undefined outside of a trace. */
export function currentTraceparent(): string | undefined {
  return storage.getStore()?.traceparent();
}

/**
 * Runs work as a span. @param work gets an object for the fields that are known only at its end. An exception
 * ends the span with the class of the error.
 */
export async function runInSpan<T>(
  tracing: Tracing,
  span: NewSpan,
  work: (fields: SpanFields) => Promise<T>,
): Promise<T> {
  const started = tracing.start(span);
  const fields: SpanFields = {};
  try {
    return await storage.run({ tracing, traceparent: () => started.traceparent }, work, fields);
  } catch (error) {
    fields.error = classOf(error);
    throw error;
  } finally {
    started.end(fields);
  }
}

/** As {@link runInSpan}, for a span of the current trace; outside of a trace the work runs without a span. */
export function runInChildSpan<T>(
  span: Omit<NewSpan, 'parent'>,
  work: (fields: SpanFields) => Promise<T>,
): Promise<T> {
  const scope = storage.getStore();
  if (!scope) return work({});
  return runInSpan(scope.tracing, { ...span, parent: scope.traceparent() }, work);
}

/** The name or code of an error; its message may quote input. */
function classOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  const known = [code, name].find((each) => typeof each === 'string' && /^\w[\w.-]{0,63}$/.test(each));
  return (known as string | undefined) ?? 'unknown';
}

/** The span of a request. It starts when it is first needed, so that its trace can be chosen until then. */
export interface RequestTrace {
  /** Runs the request's work in the span. */
  run<T>(work: () => T): T;
  /** Continues the caller's trace. Call only for an authenticated caller (ADR 22). */
  continueFrom(traceparent: string | undefined): void;
  end(name: string, fields: SpanFields): void;
}

/**
 * @returns undefined without tracing. A trace is new unless {@link RequestTrace.continueFrom} is called: an
 * unknown caller must not choose a trace, or that it is sampled.
 */
export function openRequestTrace(tracing: Tracing | undefined, startedAt: number): RequestTrace | undefined {
  if (!tracing) return undefined;
  let span: Span | undefined;
  let parent: string | undefined;
  const start = () => {
    span ??= tracing.start({ name: 'request', kind: 'server', parent, startedAt });
    return span;
  };
  return {
    run: (work) => storage.run({ tracing, traceparent: () => start().traceparent }, work),
    continueFrom(traceparent) {
      parent = traceparent;
    },
    end: (name, fields) => start().end(fields, name),
  };
}
