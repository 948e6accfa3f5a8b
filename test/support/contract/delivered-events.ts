import type { Ajv, ValidateFunction } from 'ajv';
import { createContractAjv, readContract } from './contract.ts';
import { type ContractDocument, resolve } from './contract-paths.ts';

/** The schema of an event, as a callback of `createWebhook` refers to it. */
interface EventSchema {
  properties: { type: { enum: string[] } };
}

type Callback = Record<string, { post: { requestBody: { content: Record<string, { schema: Referred }> } } }>;
interface Referred {
  $ref: string;
}

/** The names of the schemas of events by type: what the callbacks of `createWebhook` have. */
export function eventSchemas(document: ContractDocument): ReadonlyMap<string, string> {
  const { callbacks } = resolve<{ callbacks: Record<string, Callback> }>(
    document,
    document.paths['/webhooks']?.post,
  ).value;
  const names = Object.values(callbacks).flatMap((callback) =>
    Object.values(callback).flatMap(({ post }) =>
      Object.values(post.requestBody.content).map(({ schema }) => schema.$ref.split('/').at(-1) ?? ''),
    ),
  );
  const schemas = document.components.schemas as Record<string, EventSchema>;
  return new Map(
    names.flatMap((name) => (schemas[name]?.properties.type.enum ?? []).map((type) => [type, name] as const)),
  );
}

let known: { ajv: Ajv; names: ReadonlyMap<string, string> } | undefined;

/**
 * Checks what a webhook receives against openapi.yaml. A member that it does not name is a fault, too.
 * @returns what is wrong.
 */
export function deliveryFault(headers: Record<string, string>, event: unknown): string | undefined {
  known ??= { ajv: createContractAjv(readContract()), names: eventSchemas(readContract()) };
  const { type } = event as { type: string };
  if (headers['content-type']?.split(';')[0] !== 'application/cloudevents+json')
    return `${type} has the media type ${headers['content-type']}`;
  const name = known.names.get(type);
  if (!name) return `${type} is no callback of createWebhook`;
  const ref = `openapi#/components/schemas/${name}`;
  const validate = known.ajv.getSchema(ref) as ValidateFunction;
  return validate(event) ? undefined : `${type} is no ${name}: ${known.ajv.errorsText(validate.errors)}`;
}
