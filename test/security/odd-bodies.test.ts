import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { resolve } from '../support/contract/contract-paths.ts';
import { type Operation, operations, sendPrepared } from './authorisation/cells.ts';
import { useAdmin } from './authorisation/use-admin.ts';

const { instance, prepareOwn } = useAdmin();
const document = readContract();

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** As they stand in JSON. */
const oddValues = [
  'null',
  'true',
  '-1',
  '1e308',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\u202e<b>\\""',
  '"__proto__"',
  '"javascript:alert(1)"',
  `"${'é'.repeat(5_000)}"`,
  '[]',
  '[null]',
  '{}',
  '{"a":{"b":[1]}}',
];

function examplesOf({ contract }: Operation): Json[] {
  if (!contract.requestBody) return [];
  type Body = { content: Record<string, { examples?: Record<string, unknown> }> };
  const { content } = resolve<Body>(document, contract.requestBody).value;
  return Object.values(content['application/json']?.examples ?? {})
    .slice(0, 1)
    .map((example) => resolve<{ value: Json }>(document, example).value.value);
}

/** The example with something odd in the place of one of its parts, for every part. */
function spoil(example: Json): string[] {
  return pathsTo(example).flatMap((path) => {
    const text = JSON.stringify(put(example, path));
    return oddValues.map((odd) => text.replace('"☃"', () => odd));
  });
}

function pathsTo(value: Json): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  const members = Object.entries(value).slice(0, 10);
  return [[], ...members.flatMap(([name, member]) => pathsTo(member).map((rest) => [name, ...rest]))];
}

function put(value: Json, [name, ...rest]: string[]): Json {
  if (name === undefined) return '☃';
  const copy = structuredClone(value) as Record<string, Json>;
  copy[name] = put(copy[name] as Json, rest);
  return copy;
}

const cases = operations
  .map((operation) => ({
    operation,
    operationId: operation.operationId,
    bodies: examplesOf(operation).flatMap(spoil),
  }))
  .filter(({ bodies }) => bodies.length > 0);

describe.each(cases)('$operationId', ({ operation, bodies }) => {
  it('answers odd values anywhere in its body as the contract says', async () => {
    const request = await prepareOwn(operation);
    const broken: string[] = [];
    // The contract's check refuses every 5xx but 503.
    for (const body of bodies)
      await sendPrepared(instance, request, { body, headers: { 'Content-Type': 'application/json' } }).catch(
        ({ message }: Error) => broken.push(`${body.slice(0, 300)}: ${message}`),
      );
    expect(broken).toEqual([]);
  }, 60_000);
});
