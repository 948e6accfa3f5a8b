import { Failure } from '#lib/errors/fail.ts';
import { problemStatus } from '#lib/http/problem-status.ts';

/** A problem document (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  errors?: { pointer: string; code: string; detail: string }[];
  [member: string]: unknown;
}

/** Turns anything thrown into a Failure; what is not ours becomes `internal` and says nothing of its cause. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const status = (error as { status?: unknown } | null)?.status;
  if (status === 400) return new Failure('malformed', 'The request is malformed.', { cause: error });
  return new Failure('internal', 'Please try again later. The fault has been logged.', { cause: error });
}

/** The problem document of a failure. @param instance the request's path, without its query (it may hold a token). */
export function toProblem(failure: Failure, baseUrl: string, instance: string): Problem {
  const { status, title } = problemStatus[failure.code];
  return {
    type: `${baseUrl}/docs/problems/${failure.code}`,
    title,
    status,
    detail: failure.message,
    instance,
    ...(failure.errors ? { errors: failure.errors } : {}),
    ...failure.members,
  };
}
