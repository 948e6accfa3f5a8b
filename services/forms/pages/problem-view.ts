import type { ProblemCode } from '#lib/errors/fail.ts';
import type { ProblemPage } from './page-model.ts';

/** The meaning and the remedy of each problem code, for client developers. In English, like openapi.yaml. */
const explanations: Record<ProblemCode, [meaning: string, remedy: string]> = {
  malformed: [
    'The request is not well formed: it is not JSON, or lacks the types and members that the contract requires.',
    'Compare the request with the operation in /docs; errors[] points to each fault.',
  ],
  unauthorized: [
    'Credentials are missing, expired or not valid.',
    'Request a new access token (valid for five minutes), or check the API key or the transaction token in t.',
  ],
  forbidden: [
    'The credentials are valid, but do not permit this operation.',
    'Use an account with one of the roles that /docs lists for the operation. API keys are rejected when a browser page sends them.',
  ],
  'not-found': [
    'The resource does not exist, or these credentials may not see it.',
    'Check the id. Transactions that you may not see look like transactions that do not exist.',
  ],
  'method-not-allowed': [
    'The resource does not support this method.',
    'The Allow header lists the supported methods.',
  ],
  'not-acceptable': [
    'None of the media types in Accept is available.',
    'Request application/json or text/html; receipts have more formats.',
  ],
  'wrong-state': [
    'The state of the resource does not permit this, for example answers to a transaction that is not CREATED.',
    'Read the member state; task, if present, is the URL of the next step. breed creates a new transaction from this one.',
  ],
  'stale-serial': [
    'An item that was answered or shown has a new MAJOR version, was withdrawn, or was archived before the transaction was created; or a notice was added.',
    'Get the form again, show the new texts, and send the answers with the new serials.',
  ],
  'nothing-to-withdraw': [
    'None of the questions was accepted, or all were refused since.',
    'Nothing remains to be done: no consent to these questions is in force.',
  ],
  'not-withdrawable': [
    'A named answer is no consent: a preference, a question of a peer, or a processing that has another legal basis and cannot be refused.',
    'errors[] points to each name. Leave it out; change a preference with a child of the transaction.',
  ],
  exists: ['A resource with this identity already exists.', 'Use it, or choose another key.'],
  'in-use': [
    'The resource is in use and cannot be deleted.',
    'The detail names the resources that use it; change these first.',
  ],
  'last-admin': [
    'The account is the last active administrator, without whom nobody could administer the instance.',
    'Give another active account the role admin first.',
  ],
  withdrawn: [
    'The information or all elements of this form have been withdrawn since the transaction was created.',
    'Create a new transaction with elements that are active.',
  ],
  expired: ['The time-out of the transaction has passed.', 'Create a child (breed), or a new transaction.'],
  'precondition-failed': [
    'If-Match does not name the current version of the resource.',
    'Get the resource again, merge your changes, and send its new ETag.',
  ],
  'too-large': [
    'The body is larger than this operation allows.',
    'The maximum is 1 MiB for answers and models, 2 MiB for sealed parts of peers, 128 KiB for logos, and 64 KiB for other requests.',
  ],
  'unsupported-media-type': [
    'The operation does not accept the media type of the body.',
    'Set Content-Type: application/json.',
  ],
  invalid: [
    'The request is well formed, but its content breaks a rule.',
    'errors[] has a JSON pointer, a code and a remedy for each fault.',
  ],
  'layout-conflict': [
    'Both or neither of layout and layoutData were given, a setting was given twice with different values, or elements cannot be combined.',
    'Send exactly one layout. Do not combine conditions with other elements.',
  ],
  'unknown-element': [
    'The layout names an element, or something else it refers to, that does not exist or is not active.',
    'errors[] names the element; look it up under /models.',
  ],
  'invalid-answer': [
    'An answer is missing, too long, or not one of the allowed answers.',
    'errors[] has a JSON pointer into the answers for each fault; the form lists the allowed answers.',
  ],
  'confirmation-failed': [
    'The confirmation code is wrong or has expired, or no attempt is left. triesLeft and codesLeft tell what remains.',
    'Ask the subject for the last code that was sent, or request another one with POST …/confirm/resend.',
  ],
  'not-available': [
    'The request is valid but needs a feature that is not configured on this instance, for example mail.',
    'errors[] names the member and the setting. Leave the member out, or ask the operator to configure it.',
  ],
  'too-many-requests': [
    'A limit is reached: requests with these credentials, failed credentials from this network address, messages to the address or country of the subject, or the wait before another code.',
    'Send the request again after the time in Retry-After.',
  ],
  unavailable: [
    'The service is temporarily unavailable.',
    'Send the request again after the time in Retry-After. Creating and submitting are idempotent.',
  ],
  internal: [
    'The service has failed unexpectedly.',
    'Send the request again later. The error is logged with the instance path and the time.',
  ],
};

export function problemView({ code, status, instance }: ProblemPage) {
  const [meaning, remedy] = explanations[code];
  const type = `${instance.baseUrl}/docs/problems/${code}`;
  const example = { type, title: '…', status, detail: '…', instance: '/consents/…' };
  return { meaning, remedy, type, example: JSON.stringify(example, null, 2), all: Object.keys(explanations) };
}
