import type { ProblemPage } from '#lib/contracts/pages.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';

/** The meaning and the remedy of each problem code, for authors of clients. In English, like openapi.yaml. */
const explanations: Record<ProblemCode, [meaning: string, remedy: string]> = {
  malformed: [
    'The request is not well formed: no JSON, or not of the types and required members that the contract states.',
    'Compare the request with the operation in /docs; errors[] points to each place.',
  ],
  unauthorized: [
    'Credentials are missing, expired or not valid.',
    'Fetch a new access token (they live five minutes), or check the API key or the transaction token in t.',
  ],
  forbidden: [
    'The credentials are valid, but do not give the right to do this.',
    'Use an account with one of the roles that the operation lists in /docs. API keys are refused when a browser page sends them.',
  ],
  'not-found': [
    'There is nothing at this address, or nothing that these credentials may know of.',
    'Check the id. The transactions of others look like ones that do not exist.',
  ],
  'method-not-allowed': [
    'The address exists, the method does not.',
    'The Allow header names the methods that do.',
  ],
  'not-acceptable': [
    'None of the media types in Accept can be produced.',
    'Ask for application/json or text/html; receipts have more formats.',
  ],
  'wrong-state': [
    'The transaction is in a state in which this is not possible, for example past CREATED when answers arrive.',
    'Read the member state; task, if present, is the URL of the next step. breed makes a new transaction from this one.',
  ],
  'stale-serial': [
    'Answers refer to an older MAJOR version of the information or of an element.',
    'Get the form again, show the new texts, and send the answers with the new serials.',
  ],
  exists: ['Something with this identity exists already.', 'Use the existing one, or choose another key.'],
  'in-use': [
    'It is used by something else and cannot be deleted.',
    'The detail names what uses it; change that first.',
  ],
  withdrawn: [
    'The information or all elements of this form have been withdrawn since the transaction was created.',
    'Create a new transaction with elements that are active.',
  ],
  expired: ['The time-out of the transaction has passed.', 'Create a child (breed), or a new transaction.'],
  'precondition-failed': [
    'If-Match names a version that is not the current one.',
    'Get the resource again, merge your changes, and send its new ETag.',
  ],
  'too-large': [
    'The body is larger than this operation allows.',
    'Send less: 1 MiB for answers and models, 64 KiB for all else.',
  ],
  'unsupported-media-type': [
    'The body is of a media type that this operation does not read.',
    'Set Content-Type: application/json.',
  ],
  invalid: [
    'The request is well formed, but its content breaks a rule.',
    'errors[] has a JSON pointer, a code and a remedy for each fault.',
  ],
  'layout-conflict': [
    'Both or neither of layout and layoutData were given, a setting was given twice with different values, or elements do not fit together.',
    'Give one layout only; conditions stand alone.',
  ],
  'unknown-element': [
    'The layout or the answers name an element that does not exist, is not active, or is not part of the form.',
    'errors[] names it; look it up under /models.',
  ],
  'invalid-answer': [
    'An answer is missing, is not one of those allowed, or is too long.',
    'errors[] has a JSON pointer into the answers for each; the form lists the allowed answers.',
  ],
  'not-available': [
    'The instance does not offer this yet.',
    'Leave the field out. The contract says what is available.',
  ],
  'too-many-requests': [
    'The rate limit of these credentials or this address is reached.',
    'Wait as long as Retry-After says.',
  ],
  unavailable: [
    'The service cannot answer at the moment.',
    'Send the request again after Retry-After: creating and submitting twice is safe.',
  ],
  internal: [
    'Something went wrong on our side.',
    'Send the request again later; it has been logged with its instance path and time.',
  ],
};

export function problemView({ code, status, instance }: ProblemPage) {
  const [meaning, remedy] = explanations[code];
  const type = `${instance.baseUrl}/docs/problems/${code}`;
  const example = { type, title: '…', status, detail: '…', instance: '/consents/…' };
  return { meaning, remedy, type, example: JSON.stringify(example, null, 2), all: Object.keys(explanations) };
}
