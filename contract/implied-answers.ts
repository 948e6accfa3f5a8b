import type { ContractOperation } from '#lib/http/operation.ts';

/** What the rule reads of an operation, with references resolved. */
export type Asked = Pick<
  ContractOperation,
  'path' | 'parameters' | 'requestBody' | 'x-priority' | 'x-served-by'
>;

/**
 * The error answers that follow from what an operation asks for. For all of them: admission, credentials,
 * rights, negotiation and parameters (lib/http/mount-contract.ts); then a path parameter, an `If-Match` and a
 * body. Bounds in bodies are a 422, except in those of peers (lib/http/contract-document.ts).
 * @returns names in `components/responses` by status; none for an operation that another program serves.
 */
export function impliedAnswers(operation: Asked): Record<string, string> {
  if (operation['x-served-by']) return {};
  const { path, parameters = [], requestBody: body } = operation;
  const isChecked = body && !body['x-ignored'] && operation['x-priority'] !== 'peer';
  return {
    400: 'Malformed',
    401: 'Unauthorized',
    403: 'Forbidden',
    ...(path.includes('{') ? { 404: 'NotFound' } : {}),
    406: 'NotAcceptable',
    ...(parameters.some(({ name }) => name === 'If-Match') ? { 412: 'PreconditionFailed' } : {}),
    ...(body ? { 413: 'TooLarge', 415: 'UnsupportedMediaType' } : {}),
    ...(isChecked ? { 422: 'Invalid' } : {}),
    429: 'TooManyRequests',
    503: 'Unavailable',
  };
}
