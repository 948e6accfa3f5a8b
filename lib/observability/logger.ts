import { pino } from 'pino';
import { describeError } from '#lib/observability/describe-error.ts';
import { currentRequestId } from '#lib/observability/request-context.ts';

/**
 * What a log line may carry. A line takes these fields alone, so that no answer, subject, token or contact datum
 * can slip in with an object (security.md, "Assets and rules").
 */
export interface LogFields {
  service?: string;
  requestId?: string;
  operation?: string;
  method?: string;
  status?: number;
  ms?: number;
  code?: string;
  topic?: string;
  eventId?: string;
  id?: string;
  count?: number;
  address?: string;
  error?: unknown;
}

/** A logger: every line is one JSON object on standard error. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

const allowed = [
  'service', 'requestId', 'operation', 'method', 'status', 'ms', 'code', 'topic', 'eventId', 'id', 'count', 'address',
] as const satisfies readonly (keyof LogFields)[]; // biome-ignore format: one glance

function pick(fields: LogFields | undefined): Record<string, unknown> {
  const line: Record<string, unknown> = {};
  if (!fields) return line;
  for (const name of allowed) if (fields[name] !== undefined) line[name] = fields[name];
  const error = describeError(fields.error);
  if (error) line.error = error;
  return line;
}

/** Makes the process's logger. @param level `info`, `warn`, `error` or `silent`. */
export function createLogger({
  level = 'info',
  destination = 2 as number | NodeJS.WritableStream,
} = {}): Logger {
  const base = pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    typeof destination === 'number' ? pino.destination({ fd: destination, sync: true }) : destination,
  );
  const wrap = (bound: LogFields): Logger => {
    const write = (kind: 'info' | 'warn' | 'error') => (message: string, fields?: LogFields) => {
      if (!base.isLevelEnabled(kind)) return;
      const requestId = currentRequestId();
      base[kind]({ ...pick(bound), ...(requestId ? { requestId } : {}), ...pick(fields) }, message);
    };
    return {
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
      child: (fields) => wrap({ ...bound, ...fields }),
    };
  };
  return wrap({});
}
