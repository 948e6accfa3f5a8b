import type { Fault } from '#lib/errors/fail.ts';

/** What the API answered instead of a result; status 503 if it did not answer. */
export class ApiFailure extends Error {
  readonly status: number;
  /** The last part of the problem's type, such as `wrong-state`; empty without a problem document. */
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly Fault[];
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** Of a 403: the roles with which the operation may be called; empty if the person has one of them. */
  readonly roles: readonly string[];
  /** Other members of the problem document. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    problem: Readonly<Record<string, unknown>>,
    {
      retryAfter,
      roles = [],
      cause,
    }: { retryAfter?: number; roles?: readonly string[]; cause?: unknown } = {},
  ) {
    const { type, code: _, title, detail, errors, ...members } = problem;
    super(`The API answered ${status}`, { cause });
    this.name = 'ApiFailure';
    this.status = status;
    this.code = /\/docs\/problems\/([a-z-]+)$/.exec(String(type ?? ''))?.[1] ?? '';
    this.title = String(title ?? '');
    this.detail = String(detail ?? '');
    this.errors = Array.isArray(errors) ? (errors as Fault[]) : [];
    this.retryAfter = retryAfter;
    this.roles = roles;
    this.members = members;
  }
}

/** A failure of the console's own check of one field. @param code of the message `fault.<code>`. */
export function fieldFailure(field: string, code: string): ApiFailure {
  return new ApiFailure(422, { errors: [{ pointer: `/${field}`, code, detail: '' }] });
}

/** The maximum age in a challenge of RFC 9470; undefined for any other challenge. */
export function readFreshChallenge(challenge: string | null): number | undefined {
  if (!challenge?.includes('insufficient_user_authentication')) return undefined;
  return Number(/max_age="?(\d+)/.exec(challenge)?.[1] ?? 0);
}

/** What a call returns; undefined if the API answers with 404. */
export async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404) return undefined;
    throw error;
  }
}
