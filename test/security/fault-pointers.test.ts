import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { resolve } from '../support/contract/contract-paths.ts';
import { type Operation, operations, sendPrepared } from './authorisation/cells.ts';
import { useAdmin } from './authorisation/use-admin.ts';
import { type Json, type Schema, spoil } from './bad-input/spoil-json.ts';

const { instance, prepareOwn } = useAdmin();
const document = readContract();
interface Body {
  content: Record<string, { schema: Schema; examples?: Record<string, unknown> }>;
}

function jsonBodyOf({ contract }: Operation) {
  if (!contract.requestBody) return undefined;
  return resolve<Body>(document, contract.requestBody).value.content['application/json'];
}

const cases = operations.flatMap((operation) => {
  const json = jsonBodyOf(operation);
  return json ? [{ operation, operationId: operation.operationId, json }] : [];
});

describe.each(cases)('$operationId', ({ operation, json: { schema, examples = {} } }) => {
  it('points each fault at what was sent, or at what is missing in it', async () => {
    const make = () => prepareOwn(operation);
    let request = await make();
    const valid = Object.values(examples).map((each) => resolve<{ value: Json }>(document, each).value.value);
    if (typeof request.init.body === 'string') valid.unshift(JSON.parse(request.init.body) as Json);
    const bodies = new Set(valid.slice(0, 2).flatMap((each) => spoil(document, each, schema)));
    const lost: string[] = [];
    for (const body of bodies) {
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/html;q=0.1' };
      try {
        const { status } = await sendPrepared(instance, request, { body, headers });
        // An earlier request has changed what this one is about.
        if (![404, 409, 410].includes(status)) continue;
        request = await make();
        await sendPrepared(instance, request, { body, headers });
      } catch (error) {
        lost.push((error as Error).message);
      }
    }
    expect(lost).toEqual([]);
  }, 120_000);
});
