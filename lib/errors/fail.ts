/** Stable problem codes: the last segment of a problem's `type` (docs/interface.md, "Errors"). */
export type ProblemCode =
  | 'malformed'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'wrong-state'
  | 'stale-serial'
  | 'nothing-to-withdraw'
  | 'not-withdrawable'
  | 'exists'
  | 'in-use'
  | 'last-admin'
  | 'withdrawn'
  | 'expired'
  | 'precondition-failed'
  | 'too-large'
  | 'unsupported-media-type'
  | 'invalid'
  | 'layout-conflict'
  | 'unknown-element'
  | 'invalid-answer'
  | 'confirmation-failed'
  | 'not-available'
  | 'too-many-requests'
  | 'unavailable'
  | 'internal';

/** One fault in a request: its place, its kind and how to fix it. */
export interface Fault {
  /** RFC 6901 JSON pointer into the request body, or `/<name>` of a query parameter; '' for no member. */
  pointer: string;
  code: string;
  detail: string;
}

/** Optional facts of a failure. */
export interface FailureDetails {
  errors?: Fault[];
  /** Further members of the problem document (RFC 9457 §3.2), e.g. `state`. */
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  /** Private: logged, never sent. */
  cause?: unknown;
  /** Rejected because of overload: lib/http answers with as little work as possible. */
  overload?: boolean;
}

/**
 * The only error whose message reaches a client: a stable code and a detail written for the client. lib/http
 * maps codes to HTTP statuses.
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

/** Makes a {@link Failure}: `throw fail('not-found', 'Resource not found.')`. */
export function fail(code: ProblemCode, detail: string, details?: FailureDetails): Failure {
  return new Failure(code, detail, details);
}

/**
 * Makes the failure for one invalid member of a request's body.
 * @param at RFC 6901 JSON pointer of the member. @param fault how to fix it.
 */
export function invalidMember(detail: string, at: string, fault: string, cause?: unknown): Failure {
  return fail('invalid', detail, { errors: [{ pointer: at, code: 'invalid', detail: fault }], cause });
}

/** Runs `work` on a member of the body; pointers of its faults start at the root of the body. */
export function prefixPointers<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  return movePointers((pointer) => `${prefix}${pointer}`, work);
}

/** Runs `work`, and changes the pointers of its faults. */
export async function movePointers<T>(move: (pointer: string) => string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !error.errors) throw error;
    const { code, message, errors, members, headers, cause } = error;
    const prefixed = errors.map((fault) => ({ ...fault, pointer: move(fault.pointer) }));
    throw new Failure(code, message, { errors: prefixed, members, headers, cause });
  }
}

/**
 * A reason why the process cannot start, in one plain sentence. The entry point prints it and exits with 1.
 */
export class StartupError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = 'StartupError';
  }
}
