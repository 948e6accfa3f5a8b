import type { ProblemCode } from '#lib/errors/fail.ts';

/** The one table from problem codes to HTTP status and title (RFC 9457; docs/interface.md, "Errors" and docs/interface.md). */
export const problemStatus: Record<ProblemCode, { status: number; title: string }> = {
  malformed: { status: 400, title: 'The request is malformed' },
  unauthorized: { status: 401, title: 'Credentials are missing or not valid' },
  forbidden: { status: 403, title: 'Not allowed' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'not-acceptable': { status: 406, title: 'No acceptable representation' },
  'wrong-state': { status: 409, title: 'Not possible in this state' },
  'stale-serial': { status: 409, title: 'The questions have changed' },
  exists: { status: 409, title: 'It exists already' },
  'in-use': { status: 409, title: 'It is in use' },
  withdrawn: { status: 409, title: 'The questions have been withdrawn' },
  expired: { status: 410, title: 'The time is over' },
  'precondition-failed': { status: 412, title: 'It has been changed meanwhile' },
  'too-large': { status: 413, title: 'Too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },
  invalid: { status: 422, title: 'The content is not valid' },
  'layout-conflict': { status: 422, title: 'Layouts conflict' },
  'unknown-element': { status: 422, title: 'Unknown element' },
  'invalid-answer': { status: 422, title: 'An answer is not valid' },
  'not-available': { status: 422, title: 'Not available on this instance yet' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Not available at the moment' },
};
