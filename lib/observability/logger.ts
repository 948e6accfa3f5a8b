import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';

/**
 * The only fields that a log line may have, so that no answer, subject, token or contact datum slips in with
 * an object (docs/security.md).
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
  transaction?: string;
  count?: number;
  address?: string;
  error?: unknown;
}

/** A logger that writes one JSON object per line to standard error. */
export interface Logger {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

const allowed = [
  'service',
  'requestId',
  'operation',
  'method',
  'status',
  'ms',
  'code',
  'topic',
  'eventId',
  'id',
  'transaction',
  'count',
  'address',
] as const satisfies readonly (keyof LogFields)[];

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

/** The loggable facts of an error. */
export interface ErrorDescription {
  name: string;
  code: string | undefined;
  /** Stack frames. */
  at: string[] | undefined;
  cause: ErrorDescription | undefined;
}

/** Messages of foreign errors may quote input, so only names, codes and stack frames are kept. */
export function describeError(error: unknown): ErrorDescription | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = (error as { code?: unknown }).code;
  // A line of the message may look like a stack frame.
  const frames = error.stack
    ?.replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim());
  return {
    name: error.name,
    code: typeof code === 'string' ? code : undefined,
    at: frames,
    cause: describeError(error.cause),
  };
}

/** The context of the current request. It follows asynchronous calls, events and log lines implicitly. */
const storage = new AsyncLocalStorage<{ requestId: string; account?: string } | undefined>();

const wellFormed = /^[0-9A-Za-z_.-]{8,64}$/;

/** Accepts a well-formed request id, because it is logged and passed on; otherwise makes a new one. */
export function acceptRequestId(given: string | undefined): string {
  return given !== undefined && wellFormed.test(given) ? given : randomUUID();
}

/** Runs work as part of a request: an incoming one, a call of another service, or the origin of an event. */
export function runWithRequestId<T>(requestId: string, work: () => T): T {
  return storage.run({ requestId }, work);
}

/** Runs work outside of the current request, such as logging the loss of a shared connection. */
export function runOutsideRequests<T>(work: () => T): T {
  return storage.run(undefined, work);
}

/** Notes who makes the current request. @param account of the principal, such as `user:<sub>`. */
export function actAs(account: string): void {
  const context = storage.getStore();
  if (context) context.account = account;
}

/** Who makes the current request; undefined before authentication and in background work. */
export function currentAccount(): string | undefined {
  return storage.getStore()?.account;
}

/** The id of the current request; undefined in background work. */
export function currentRequestId(): string | undefined {
  return storage.getStore()?.requestId;
}
