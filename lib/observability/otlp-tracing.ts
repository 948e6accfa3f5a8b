import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type Span as SpanOfSdk,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { settleWithin } from '#lib/async/timing.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { NewSpan, Span, SpanFields, Tracing } from '#lib/observability/tracing.ts';

interface Options {
  /** Base URL of the collector. */
  endpoint: string;
  headers: Record<string, string>;
  /** `service.name` of the process. */
  serviceName: string;
  /** Share of the traces begun here that are exported, from 0 to 1. */
  ratio: number;
  log: Logger;
  /** Time limit of an export with all retries; 10 s by default. */
  exportMs?: number;
}

/** Bounds of memory: later spans are dropped. */
const queue = { maxQueueSize: 2_048, maxExportBatchSize: 512 };
const exportEveryMs = 2_000;
/** The process stops even if the collector does not answer. */
const lastExportMs = 2_000;

/**
 * Exports spans by OTLP over HTTP in protobuf. Requests never wait for an export. Spans of a trace that began
 * elsewhere follow the decision of its parent.
 */
export function createOtlpTracing(options: Options): Tracing {
  const { endpoint, headers, serviceName, ratio, log, exportMs = 10_000 } = options;
  const exporter = new OTLPTraceExporter({
    url: `${endpoint}/v1/traces`,
    headers,
    timeoutMillis: exportMs,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': serviceName })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        ...queue,
        exporter: reportFailures(exporter, log),
        scheduledDelayMillis: exportEveryMs,
      }),
    ],
  });
  const tracer = provider.getTracer('accord');
  return {
    start({ name, kind, parent, startedAt = performance.now(), fields = {} }) {
      // By the clock, because the time origin of the process does not follow its corrections.
      const startTime = Date.now() - (performance.now() - startedAt);
      const attributes = attributesOf(fields);
      const options = { kind: kinds[kind], startTime, attributes };
      const span = tracer.startSpan(name, options, contextOf(parent));
      return openSpan(span, () => startTime + (performance.now() - startedAt));
    },
    stop: () => settleWithin(lastExportMs, provider.shutdown()),
  };
}

/** Logs the first failure of an outage. */
function reportFailures(exporter: SpanExporter, log: Logger): SpanExporter {
  let isFailing = false;
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error && !isFailing)
          log.warn('failed to export traces; spans are dropped until the collector answers', {
            count: spans.length,
            error: result.error,
          });
        isFailing = result.error !== undefined;
        done(result);
      }),
    shutdown: () => exporter.shutdown(),
  };
}

const kinds: Record<NewSpan['kind'], SpanKind> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

function openSpan(span: SpanOfSdk, clock: () => number): Span {
  return {
    traceparent: traceparentOf(span.spanContext()),
    end(fields, name) {
      if (name) span.updateName(name);
      span.setAttributes(attributesOf(fields));
      const { status = 0, error } = fields;
      if (error !== undefined || status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(clock());
    },
  };
}

/** Names of the semantic conventions of OpenTelemetry where they have one. */
const names: Record<keyof SpanFields, string> = {
  service: 'accord.service',
  operation: 'accord.operation',
  method: 'http.request.method',
  route: 'http.route',
  status: 'http.response.status_code',
  topic: 'messaging.destination.name',
  event: 'accord.event.type',
  peer: 'accord.peer.id',
  webhook: 'accord.webhook.id',
  error: 'error.type',
};

function attributesOf(fields: SpanFields): Attributes {
  const attributes: Attributes = {};
  for (const [field, name] of Object.entries(names)) {
    const value = fields[field as keyof SpanFields];
    if (value !== undefined) attributes[name] = value;
  }
  return attributes;
}

/** Version 00 of W3C Trace Context; ids of zeros are not valid. */
const wellFormed = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = wellFormed.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
