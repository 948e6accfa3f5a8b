/** Stable problem codes: the last part of a problem's `type` (docs/interface.md, "Errors"). */
export type ProblemCode =
  | 'malformed'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'wrong-state'
  | 'stale-serial'
  | 'exists'
  | 'in-use'
  | 'withdrawn'
  | 'expired'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'invalid'
  | 'layout-conflict'
  | 'unknown-element'
  | 'invalid-answer'
  | 'not-available'
  | 'too-many-requests'
  | 'unavailable'
  | 'internal';

/** One fault in a request: where it is, what kind it is, and how to mend it. */
export interface Fault {
  /** RFC 6901 JSON pointer into the request body. */
  pointer: string;
  code: string;
  detail: string;
}

/** What a failure may carry to the client beside its code. */
export interface FailureDetails {
  errors?: Fault[];
  /** Further members of the problem document (RFC 9457 §3.2), e.g. `state`. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Private: logged, never sent. */
  cause?: unknown;
  /** Refused for want of time: as little as possible is done for it. */
  overload?: boolean;
}

/**
 * The only error that carries something to a client: a stable code and a detail written for the client.
 * Which HTTP status a code becomes is known to lib/http alone.
 */
export class Failure extends Error {
  readonly code: ProblemCode;
  readonly errors: Fault[] | undefined;
  readonly members: Record<string, unknown>;
  readonly headers: Record<string, string>;
  readonly overload: boolean;

  constructor(code: ProblemCode, detail: string, details: FailureDetails = {}) {
    super(detail, { cause: details.cause });
    this.name = 'Failure';
    this.code = code;
    this.errors = details.errors;
    this.members = details.members ?? {};
    this.headers = details.headers ?? {};
    this.overload = details.overload ?? false;
  }
}

/** Makes a {@link Failure}; `throw fail('not-found', 'There is no such transaction.')`. */
export function fail(code: ProblemCode, detail: string, details?: FailureDetails): Failure {
  return new Failure(code, detail, details);
}
