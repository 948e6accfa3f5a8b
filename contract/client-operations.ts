import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { acceptedContract } from '#lib/http/accepted-contract.ts';

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
}
interface Operation {
  operationId: string;
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, { content?: Record<string, unknown> }>;
  security?: unknown[];
}
type Document = { paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }> };

const methods = ['get', 'put', 'post', 'delete', 'patch'];

/** @returns what clients/typescript knows of each operation of openapi.yaml: its type, how it is sent. */
export function clientOperations(file: URL): string {
  const document: Document = acceptedContract(parse(readFileSync(file, 'utf8')));
  const found = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] ? [describe(document, path, method, item)] : [])),
  );
  const types = (kind: string, all: typeof found) =>
    all.map(({ id, summary, accept }) => {
      const type = `${kind}<'${id}', ${accept ? `'${accept}'` : 'never'}>`;
      return `  /** ${summary} */\n  readonly ${id}: ${type};`;
    });
  return [
    "import type { Call, Iterate, Operation, OperationId } from './types.ts';",
    '\nexport interface Operations {',
    ...types('Call', found),
    '}\n\nexport interface Iterators {',
    ...types(
      'Iterate',
      found.filter(({ query }) => query.includes('cursor')),
    ),
    '}\n\nexport const operations: Record<OperationId, Operation> = {',
    ...found.map(({ id, summary, ...operation }) => `  ${id}: ${JSON.stringify(operation)},`),
    '};\n',
  ].join('\n');
}

function describe(document: Document, path: string, method: string, item: Document['paths'][string]) {
  const operation = item[method] as Operation;
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((each) =>
    resolve<Parameter>(document, each),
  );
  const named = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
  const body = operation.requestBody && resolve<{ content: object }>(document, operation.requestBody).content;
  const accepted = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.keys(resolve<{ content?: object }>(document, response).content ?? {}));
  const json = (types: string[]) => types.find((type) => type === 'application/json') ?? types[0];
  return {
    id: operation.operationId,
    summary: operation.summary,
    method: method.toUpperCase(),
    path,
    query: named('query'),
    headers: named('header'),
    ...(body ? { body: json(Object.keys(body)) } : {}),
    accept: json(accepted),
    ...(operation.security?.length === 0 ? { isPublic: true } : {}),
  };
}

function resolve<Value>(document: Document, value: object): Value {
  const { $ref } = value as { $ref?: string };
  if (!$ref) return value as Value;
  const names = $ref.slice(2).split('/');
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as Value;
}
