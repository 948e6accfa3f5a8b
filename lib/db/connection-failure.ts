import { type Failure, fail } from '#lib/errors/fail.ts';

/** SQLSTATEs, or their classes of two, that say nothing about the statement: trying again later may succeed. */
const transientStates = [
  '08', // connection exception
  '53', // insufficient resources: connections, memory, disk
  '57P', // shut down, crashed, starting up
  '57014', // statement time-out
  '55P03', // lock time-out
  '25P03', // idle-in-transaction time-out
  '40001', // serialization failure
  '40P01', // deadlock
];

const transientSystemCodes = new Set([
  'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT',
]); // biome-ignore format: one glance

/** pg's own errors carry no code. */
const transientMessages =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|timeout expired|Client has encountered a connection error)/;

/** The failure `unavailable` for an error that is the database's state and not the statement's fault, else undefined. */
export function toUnavailable(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !isTransient(error)) return undefined;
  return fail('unavailable', 'The database does not answer at the moment. Please try again.', {
    cause: error,
    headers: { 'Retry-After': '1' },
  });
}

function isTransient(error: Error): boolean {
  const { code } = error as { code?: unknown };
  if (typeof code !== 'string') return transientMessages.test(error.message);
  if (transientSystemCodes.has(code)) return true;
  return code.length === 5 && transientStates.some((state) => code.startsWith(state));
}
