import addFormats from 'ajv-formats';
import { type Document, OpenAPIBackend } from 'openapi-backend';
import { fail } from '#lib/errors/fail.ts';
import type { ContractOperation } from '#lib/http/operation.ts';

interface RequestParts {
  params: Record<string, string>;
  query: Record<string, string | string[] | undefined>;
  body: unknown;
}

/** Checks a request against the contract. @throws Failure `malformed` with a pointer per fault; `not-found` for a bad path parameter. */
export type ValidateRequest = (operation: ContractOperation, request: RequestParts) => void;

/** Compiles the validators of every operation in the document. */
export async function createRequestValidator(
  document: Document,
): Promise<{ operations: ContractOperation[]; validate: ValidateRequest }> {
  const api = new OpenAPIBackend({
    definition: document,
    strict: true,
    // Validators are compiled when they are first used: all at once took seconds at every start. The document itself is
    // checked by the contract's tests.
    quick: true,
    validate: true,
    ajvOpts: { strict: false, allErrors: false, coerceTypes: false },
    customizeAjv: (ajv) => {
      (addFormats as unknown as (target: typeof ajv) => void)(ajv);
      return ajv;
    },
  });
  await api.init();
  const operations = api.getOperations() as unknown as ContractOperation[];
  const validate: ValidateRequest = ({ operationId, requestBody }, { params, query, body }) => {
    const hasBody = body !== undefined && !Buffer.isBuffer(body);
    if (!hasBody && requestBody?.required && !Buffer.isBuffer(body))
      throw fail('malformed', 'This needs a body.');
    // openapi-backend's own validateRequest would write and parse the request's parts once more. The copies take what ajv coerces.
    const parts = {
      path: { ...params },
      query: { ...query },
      header: {},
      ...(hasBody ? { requestBody: body } : {}),
    };
    const errors = (api.validator.getRequestValidatorsForOperation(operationId) ?? []).flatMap((check) =>
      check(parts) ? [] : (check.errors ?? []),
    );
    if (errors.length > 0) throw invalidRequest(errors);
  };
  return { operations, validate };
}

function invalidRequest(
  errors: { instancePath: string; message?: string; params?: Record<string, unknown> }[],
) {
  if (errors.some((error) => error.instancePath.startsWith('/path')))
    return fail('not-found', 'There is nothing at this address.');
  const faults = errors.map(({ instancePath, message, params }) => {
    const missing = typeof params?.missingProperty === 'string' ? `/${params.missingProperty}` : '';
    return {
      pointer: instancePath.replace(/^\/(requestBody|query)/, '') + missing,
      code: 'malformed',
      detail: missing ? 'is required' : (message ?? 'is not valid'),
    };
  });
  const first = faults[0];
  const where = first?.pointer ? `${first.pointer} ` : 'The request ';
  return fail('malformed', `${where}${first?.detail ?? 'is not valid'}.`, { errors: faults });
}
