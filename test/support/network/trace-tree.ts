import type { ExportedSpan } from './otlp-reader.ts';

/** A span with its process, as `leader: POST /consents`. */
const nameOf = ({ process, name }: ExportedSpan) => `${process}: ${name}`;

/**
 * The spans from the first one of a trace down to this one. @throws Error if a parent is missing, or belongs
 * to another trace.
 */
function pathTo(span: ExportedSpan, spans: readonly ExportedSpan[]): string[] {
  if (span.parentId === '') return [nameOf(span)];
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  if (!parent) throw new Error(`${nameOf(span)} has a parent that was not exported`);
  if (parent.traceId !== span.traceId) throw new Error(`${nameOf(span)} has a parent in another trace`);
  return [...pathTo(parent, spans), nameOf(span)];
}

/** The distinct paths of a trace, in alphabetical order, each as one line. */
export function pathsOf(traceId: string, spans: readonly ExportedSpan[]): string[] {
  const paths = spans
    .filter((span) => span.traceId === traceId)
    .map((span) => pathTo(span, spans).join(' > '));
  return [...new Set(paths)].sort();
}
