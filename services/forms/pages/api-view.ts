import { type Schema, type SchemaRow, schemaRows, typeName } from './schema-rows.ts';

/** Text of the contract: paragraphs of plain words and words in backticks. */
type Paragraph = { code: boolean; text: string }[];

interface ParameterView {
  name: string;
  in: string;
  required: boolean;
  type: string;
  description: Paragraph[];
  example: string;
}

interface OperationView {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: Paragraph[];
  roles: string[];
  parameters: ParameterView[];
  body: { type: string; description: Paragraph[]; rows: SchemaRow[]; example: string } | null;
  responses: { status: string; description: Paragraph[]; types: string[] }[];
}

export interface ApiView {
  title: string;
  version: string;
  description: Paragraph[];
  groups: { name: string; description: Paragraph[]; operations: OperationView[] }[];
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  example?: unknown;
}

interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { description?: string; content?: Record<string, Media> };
  responses?: Record<string, { description?: string; content?: Record<string, Media> }>;
  'x-roles'?: Record<string, string>;
}

interface Contract {
  info?: { title?: string; version?: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** The contract as the reference page shows it: by tag, in the order of the document. */
export function apiView(document: Record<string, unknown>): ApiView {
  const { info = {}, tags = [], paths = {} } = document as Contract;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      return operation
        ? [
            {
              tag: operation.tags?.[0] ?? '',
              view: operationView(document, path, method, operation, item.parameters),
            },
          ]
        : [];
    }),
  );
  const names = [...new Set([...tags.map(({ name }) => name), ...operations.map(({ tag }) => tag)])];
  return {
    title: info.title ?? 'Interface',
    version: info.version ?? '',
    description: paragraphs(info.description),
    groups: names
      .map((name) => ({
        name,
        description: paragraphs(tags.find((tag) => tag.name === name)?.description),
        operations: operations.filter(({ tag }) => tag === name).map(({ view }) => view),
      }))
      .filter((group) => group.operations.length > 0),
  };
}

function operationView(
  document: object,
  path: string,
  method: string,
  operation: Operation,
  shared: Parameter[] = [],
): OperationView {
  const resolve = resolver(document);
  const parameters = [...shared, ...(operation.parameters ?? [])].map((parameter) =>
    resolve<Parameter>(parameter),
  );
  const body = resolve<NonNullable<Operation['requestBody']>>(operation.requestBody ?? {});
  const [type, media] = Object.entries(body.content ?? {})[0] ?? [];
  return {
    id: operation.operationId ?? `${method}${path.replace(/\W+/g, '-')}`,
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? '',
    description: paragraphs(operation.description),
    roles: Object.entries(operation['x-roles'] ?? {}).map(([role, relation]) =>
      relation === 'own' ? `${role} (own)` : role,
    ),
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      in: parameter.in,
      required: parameter.required === true,
      type: typeName(parameter.schema, resolve),
      description: paragraphs(parameter.description),
      example: parameter.example === undefined ? '' : String(parameter.example),
    })),
    body: type
      ? {
          type,
          description: paragraphs(body.description),
          rows: schemaRows(media?.schema, resolve),
          example: exampleOf(media, resolve),
        }
      : null,
    responses: Object.entries(operation.responses ?? {}).map(([status, given]) => {
      const response = resolve<NonNullable<Operation['responses']>[string]>(given);
      return {
        status,
        description: paragraphs(response.description),
        types: Object.keys(response.content ?? {}),
      };
    }),
  };
}

function exampleOf(media: Media | undefined, resolve: ReturnType<typeof resolver>): string {
  const named = Object.values(media?.examples ?? {}).map((example) =>
    resolve<{ value?: unknown }>(example),
  )[0];
  const value = media?.example ?? named?.value;
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Follows local references (`#/components/…`) of one document. */
function resolver(document: object) {
  return function resolve<Node>(node: Node | { $ref: string }, depth = 0): Node {
    const reference = (node as { $ref?: string }).$ref;
    if (!reference?.startsWith('#/') || depth > 8) return node as Node;
    const parts = reference
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const target = parts.reduce<unknown>(
      (value, part) => (value as Record<string, unknown> | undefined)?.[part],
      document,
    );
    return resolve<Node>((target ?? {}) as Node, depth + 1);
  };
}

/** CommonMark is not needed: the contract's texts are paragraphs with names in backticks. */
function paragraphs(text: string | undefined): Paragraph[] {
  if (!text?.trim()) return [];
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((part) =>
      part.split('`').flatMap((piece, index) => (piece ? [{ code: index % 2 === 1, text: piece }] : [])),
    );
}
