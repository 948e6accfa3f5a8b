import { marked } from 'marked';
import type { ApiPage } from './page-model.ts';
import { requestSnippets, type SampleRequest } from './request-snippets.ts';
import type { RichBlocks } from './rich-blocks.ts';
import { type Resolve, type Schema, schemaRows, typeName } from './schema-rows.ts';

/** Reads a description (CommonMark, as OpenAPI requires). */
type Describe = RichBlocks;

/** The members of an OpenAPI document, as far as the reference page shows them. */
interface Contract {
  info?: { title?: string; version?: string; description?: string };
  paths?: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
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
  parameters?: Parameter[];
  requestBody?: { description?: string; content?: Record<string, Media> };
  responses?: Record<string, { description?: string; content?: Record<string, Media> }>;
  security?: Record<string, unknown>[];
  callbacks?: Record<string, Record<string, { post?: Operation }>>;
  'x-roles'?: Record<string, string>;
  'x-fresh'?: number;
}

type Response = NonNullable<Operation['responses']>[string];

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** An operation of the document, with the parameters of its path. */
interface Listed {
  /** The first part of the address; `home` for `/`. */
  group: string;
  path: string;
  method: string;
  operation: Operation;
}

function listOperations({ paths = {} }: Contract): Listed[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [{ group: path.split('/')[1] || 'home', path, method, operation: { ...operation, parameters } }];
    }),
  );
}

/** The groups of operations that have a page, in the order of the document. */
export function apiGroups(document: Record<string, unknown>): ReadonlySet<string> {
  return new Set(listOperations(document as Contract).map(({ group }) => group));
}

/** The reference pages of openapi.yaml: operations by the first part of their address. */
export function apiView(
  { document, group, instance }: Pick<ApiPage, 'document' | 'group' | 'instance'>,
  rich: RichBlocks,
) {
  const describe: Describe = (text, topHeading) =>
    rich(text && marked.parse(text, { async: false }), topHeading);
  const contract = document as Contract;
  const { info = {} } = contract;
  const resolve = resolver(document);
  const operations = listOperations(contract);
  const groups = [...apiGroups(document)].map((name) => ({
    name,
    href: `/docs?group=${encodeURIComponent(name)}`,
    isCurrent: name === group,
    operations: operations.filter((each) => each.group === name).map(linkTo),
  }));
  return {
    title: info.title ?? 'Interface',
    version: info.version ?? '',
    description: group === undefined ? describe(info.description, 2) : undefined,
    groups,
    current: groups.find(({ isCurrent }) => isCurrent),
    operations: operations
      .filter((each) => each.group === group)
      .map((operation) => operationView(operation, { resolve, describe, base: instance.baseUrl })),
  };
}

/** An operation in the navigation. */
function linkTo({ path, method, operation }: Listed) {
  return {
    id: operation.operationId ?? `${method}${path.replace(/\W+/g, '-')}`,
    method: method.toUpperCase(),
    path,
    summary: operation.summary ?? '',
  };
}

function operationView(
  listed: Listed,
  { resolve, describe, base }: { resolve: Resolve; describe: Describe; base: string },
) {
  const { operation } = listed;
  const takesToken = operation.security?.some((scheme) => 'transactionToken' in scheme) ?? false;
  const parameters = [...(operation.parameters ?? []), ...(takesToken ? [tokenParameter] : [])].map(
    (parameter) => resolve<Parameter>(parameter),
  );
  const body = resolve<NonNullable<Operation['requestBody']>>(operation.requestBody ?? {});
  const [type, media] = Object.entries(body.content ?? {})[0] ?? [];
  return {
    ...linkTo(listed),
    description: describe(operation.description, 4),
    roles: Object.entries(operation['x-roles'] ?? {}).map(([role, relation]) =>
      relation === 'any' ? role : `${role} (${relation})`,
    ),
    freshMinutes: (operation['x-fresh'] ?? 0) / 60,
    parameters: parameters.map((parameter) => ({
      name: parameter.name,
      in: parameter.in,
      required: parameter.required === true,
      type: typeName(parameter.schema, resolve),
      description: describe(parameter.description),
      example: parameter.example === undefined ? '' : String(parameter.example),
    })),
    body: type
      ? {
          type,
          description: describe(body.description),
          rows: schemaRows(media?.schema, resolve).map((row) => ({
            ...row,
            description: describe(row.description),
          })),
          examples: examplesOf(media, resolve),
        }
      : null,
    responses: Object.entries(operation.responses ?? {}).map(([status, given]) => {
      const response = resolve<Response>(given);
      return {
        status,
        description: describe(response.description),
        types: Object.keys(response.content ?? {}),
      };
    }),
    answer: answerOf(operation, resolve),
    callbacks: callbacksOf(operation).map(({ description, requestBody }) => ({
      description: describe(description),
      examples: Object.values(requestBody?.content ?? {}).flatMap((each) => examplesOf(each, resolve)),
    })),
    snippets: requestSnippets(sampleOf(listed, { parameters, type, media, base, resolve })),
  };
}

/** The requests that the instance sends later because of an operation. */
function callbacksOf({ callbacks = {} }: Operation): Operation[] {
  return Object.values(callbacks).flatMap((callback) =>
    Object.values(callback).flatMap(({ post }) => (post ? [post] : [])),
  );
}

/** A request with the examples of the contract; optional parameters are left out. */
function sampleOf(
  { method, path, operation }: Listed,
  given: {
    parameters: readonly Parameter[];
    type: string | undefined;
    media: Media | undefined;
    base: string;
    resolve: Resolve;
  },
): SampleRequest {
  const { parameters, type, media, base, resolve } = given;
  const exampleOf = (name: string) =>
    encodeURIComponent(String(parameters.find((each) => each.name === name)?.example ?? name));
  const query = parameters
    .filter((each) => each.in === 'query' && each.required)
    .map(({ name }) => `${name}=${exampleOf(name)}`);
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => exampleOf(name));
  return {
    method: method.toUpperCase(),
    url: `${base}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    ...(type && { body: { type, text: examplesOf(media, resolve)[0]?.text ?? '' } }),
    takesToken: !('anonymous' in (operation['x-roles'] ?? {})),
  };
}

/** A security scheme of the contract, shown as the query parameter that it is. */
const tokenParameter: Parameter = {
  name: 't',
  in: 'query',
  description: 'Transaction token, instead of an own credential',
  schema: { type: 'string' },
};

/** The first successful response with an example. */
function answerOf({ responses = {} }: Operation, resolve: Resolve) {
  for (const [status, given] of Object.entries(responses)) {
    const { content = {} } = resolve<Response>(given);
    const examples = status.startsWith('2') ? examplesOf(content['application/json'], resolve) : [];
    if (examples.some(({ text }) => text !== '')) return { status, examples };
  }
  return null;
}

/** The examples of a media type; one empty example if there is none. */
function examplesOf(media: Media | undefined, resolve: Resolve) {
  const named = Object.entries(media?.examples ?? {}).map(([name, example]) => {
    const { summary, value } = resolve<{ summary?: string; value?: unknown }>(example);
    return { name: summary ?? name, text: formatExample(value) };
  });
  return named.length > 0 ? named : [{ name: '', text: formatExample(media?.example) }];
}

function formatExample(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** Resolves local references (`#/components/…`) of a document. */
function resolver(document: object): Resolve {
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
