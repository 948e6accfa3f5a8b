import { describe, expect, test } from 'vitest';
import { givenRoles } from '#lib/contracts/principal.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { createContractAjv, readContract } from '../support/contract/contract.ts';
import {
  listOperations,
  type OperationObject,
  type ResponseObject,
  resolve,
} from '../support/contract/contract-paths.ts';

const document = readContract();
const ajv = createContractAjv(document);
const operations = listOperations(document);
const { parameters } = document.paths['/docs/problems/{code}'] as unknown as {
  parameters: [{ schema: { enum: string[] } }];
};
const problemCodes = parameters[0].schema.enum;

interface MediaType {
  schema: { $ref?: string };
  examples?: Record<string, unknown>;
}

/** The request and response bodies of an operation, with their media types. */
function bodiesOf(operation: OperationObject): { place: string; content: Record<string, MediaType> }[] {
  const request = operation.requestBody
    ? [
        {
          place: 'request',
          ...resolve<{ content: Record<string, MediaType> }>(document, operation.requestBody).value,
        },
      ]
    : [];
  const responses = Object.entries(operation.responses).map(([status, response]) => ({
    place: status,
    content: (resolve<ResponseObject>(document, response).value.content ?? {}) as Record<string, MediaType>,
  }));
  return [...request, ...responses];
}

function mediaTypesOf(operation: OperationObject) {
  return bodiesOf(operation).flatMap(({ place, content }) =>
    Object.entries(content).map(([name, mediaType]) => ({ where: `${place} ${name}`, mediaType })),
  );
}

const statusesOf = (operation: OperationObject) => Object.keys(operation.responses);
const ours = operations.filter(({ operation }) => !operation['x-served-by']);

describe('every operation of the contract', () => {
  test('has a unique id, one tag, a summary and a description', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map(({ name }) => name);
    for (const { operation } of operations) {
      expect(operation.operationId).toMatch(/^[a-z]+([A-Z][a-z]+)+$/);
      expect(operation.tags, operation.operationId).toHaveLength(1);
      expect(tags).toContain(operation.tags[0]);
      expect(operation.summary, operation.operationId).toBeTruthy();
      expect(operation.description, operation.operationId).toBeTruthy();
    }
  });

  test('has a path of lower-case words with hyphens', () => {
    for (const { path } of operations)
      for (const segment of path.split('/').slice(1))
        expect(segment, path).toMatch(/^(\{\w+\}|[a-z0-9.-]*)$/);
  });

  test('lists the roles that may use it, for any resource or their own', () => {
    const roles: string[] = [...givenRoles, 'key', 'decision', 'transaction', 'choices', 'peer', 'anonymous'];
    for (const { operation } of operations) {
      const rights = Object.entries(operation['x-roles'] ?? {});
      expect(rights.length, operation.operationId).toBeGreaterThan(0);
      for (const [role, reach] of rights) {
        expect(roles, operation.operationId).toContain(role);
        expect(['any', 'read', 'own'], operation.operationId).toContain(reach);
      }
    }
  });

  test('requires a recent sign-in of people, in whole minutes; API keys have none', () => {
    const fresh = operations.filter(({ operation }) => operation['x-fresh'] !== undefined);
    expect(fresh.length).toBeGreaterThan(0);
    for (const { operation } of fresh) {
      for (const role of Object.keys(operation['x-roles'] ?? {}))
        expect([...givenRoles, 'key'], operation.operationId).toContain(role);
      expect(Number(operation['x-fresh']) % 60, operation.operationId).toBe(0);
    }
  });

  test('has an example of every body except files', () => {
    for (const { operation } of operations)
      for (const { where, mediaType } of mediaTypesOf(operation)) {
        if (mediaType.schema.$ref === '#/components/schemas/Binary') continue;
        const names = Object.keys(mediaType.examples ?? {});
        expect(names.length, `${operation.operationId} ${where}`).toBeGreaterThan(0);
      }
  });
});

describe('every example in the contract is valid', () => {
  test.each(operations)('$operation.operationId', ({ operation }) => {
    for (const { where, mediaType } of mediaTypesOf(operation))
      for (const [name, reference] of Object.entries(mediaType.examples ?? {})) {
        const example = resolve<{ value: unknown }>(document, reference).value;
        const valid = ajv.validate(inDocument(mediaType.schema), example.value);
        expect(valid, `${where} ${name}: ${JSON.stringify(ajv.errors)}`).toBe(true);
      }
  });

  test('and is used', () => {
    const used = JSON.stringify(document);
    for (const name of Object.keys(document.components.examples ?? {}))
      expect(used).toContain(`"#/components/examples/${name}"`);
  });
});

describe('the contract documents the problems of', () => {
  test.each(ours)('$operation.operationId', ({ path, operation }) => {
    const statuses = statusesOf(operation);
    for (const status of ['401', '403', '406', '429', '503']) expect(statuses).toContain(status);
    if (path.includes('{')) expect(statuses).toContain('404');
    if (operation.requestBody) for (const status of ['400', '413', '415']) expect(statuses).toContain(status);
  });

  test('every operation, with known codes and the same status', () => {
    expect(problemCodes.toSorted()).toEqual(Object.keys(problemStatus).toSorted());
    for (const { operation } of ours)
      for (const [status, reference] of Object.entries(operation.responses)) {
        const response = resolve<ResponseObject>(document, reference).value;
        // The size that a witness knows (c2sp.org/tlog-witness) is what the log goes on with.
        const isSize = Object.hasOwn(response.content ?? {}, 'text/x.tlog.size');
        if (Number(status) < 400 || isSize) continue;
        expect(Object.keys(response.content ?? {})).toEqual(['application/problem+json', 'text/html']);
        for (const code of response['x-problems'] ?? [''])
          expect(problemStatus[code as keyof typeof problemStatus]?.status, code).toBe(Number(status));
      }
  });
});

const located = new Map<string, object>();

/** A schema of the document with its references looked up there. */
function inDocument(schema: object): object {
  const text = JSON.stringify(schema);
  const known = located.get(text) ?? (JSON.parse(text.replaceAll('"#/', '"openapi#/')) as object);
  located.set(text, known);
  return known;
}
