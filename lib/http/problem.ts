import { Failure, type Fault, type ProblemCode } from '#lib/errors/fail.ts';
import { pointerInto } from '#lib/json/pointer.ts';

/** HTTP status and title of every problem code (docs/interface.md, "Errors"). */
export const problemStatus: Record<ProblemCode, { status: number; title: string }> = {
  malformed: { status: 400, title: 'Malformed request' },
  unauthorized: { status: 401, title: 'Credentials are missing or not valid' },
  forbidden: { status: 403, title: 'Not allowed' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-acceptable': { status: 406, title: 'No acceptable representation' },
  'wrong-state': { status: 409, title: 'Not possible in this state' },
  'stale-serial': { status: 409, title: 'The form has changed' },
  'nothing-to-withdraw': { status: 409, title: 'There is nothing to withdraw' },
  'not-withdrawable': { status: 422, title: 'This answer cannot be withdrawn' },
  exists: { status: 409, title: 'Already exists' },
  'in-use': { status: 409, title: 'In use' },
  'last-admin': { status: 409, title: 'Last administrator' },
  withdrawn: { status: 409, title: 'The form has been withdrawn' },
  expired: { status: 410, title: 'Expired' },
  'precondition-failed': { status: 412, title: 'Changed since it was read' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  invalid: { status: 422, title: 'The content is not valid' },
  'layout-conflict': { status: 422, title: 'Layouts conflict' },
  'unknown-element': { status: 422, title: 'Unknown element' },
  'invalid-answer': { status: 422, title: 'An answer is not valid' },
  'confirmation-failed': { status: 422, title: 'The code was not accepted' },
  'not-available': { status: 422, title: 'Not available on this instance' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Temporarily unavailable' },
};

/** A problem document (RFC 9457). */
export interface Problem {
  type: string;
  /** The last segment of `type`. */
  code: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  errors?: { pointer: string; code: string; detail: string }[];
  [member: string]: unknown;
}

/**
 * Turns anything thrown into a Failure; an unknown error becomes `internal`, whose detail does not tell the
 * cause.
 */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 400) return new Failure('malformed', 'The request is malformed.', { cause: error });
  return new Failure('internal', 'Please try again later. The error has been logged.', { cause: error });
}

/** The failure with pointers into the body that the client has sent. */
export function pointInto(sent: unknown, failure: Failure): Failure {
  if (!failure.errors) return failure;
  const { code, message, members, headers, cause, overload } = failure;
  const errors = failure.errors.map((fault) => ({ ...fault, pointer: pointerInto(sent, fault.pointer) }));
  return new Failure(code, message, { errors, members, headers, cause, overload });
}

/**
 * The problem document of a failure. @param instance the request's path without its query, which may hold a
 * token.
 */
export function toProblem(failure: Failure, baseUrl: string, instance: string): Problem {
  const { status, title } = problemStatus[failure.code];
  return {
    type: `${baseUrl}/docs/problems/${failure.code}`,
    code: failure.code,
    title,
    status,
    detail: failure.message,
    instance,
    ...(failure.errors ? { errors: failure.errors } : {}),
    ...failure.members,
  };
}

/** Headers that are part of a failure. */
const failureHeaders = { 'retry-after': 'Retry-After', 'www-authenticate': 'WWW-Authenticate' };

interface Reply {
  text: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * Reads another service's problem document: the reverse of {@link toProblem}.
 * @returns undefined if the reply is no problem document with a known code.
 */
export function readProblem({ text, headers }: Reply): Failure | undefined {
  const problem = parse(text);
  const code = /\/docs\/problems\/([a-z-]+)$/.exec(String(problem?.type))?.[1];
  if (!problem || code === undefined || !Object.hasOwn(problemStatus, code)) return undefined;
  const { type: _, code: _code, title: _title, status: _status, instance: _path, ...rest } = problem;
  const { detail, errors, ...members } = rest;
  const found = Object.entries(failureHeaders).flatMap(([name, written]) => {
    const value = headers[name];
    return typeof value === 'string' ? [[written, value] as const] : [];
  });
  return new Failure(code as ProblemCode, String(detail), {
    ...(errors ? { errors: errors as Fault[] } : {}),
    members,
    headers: Object.fromEntries(found),
  });
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
