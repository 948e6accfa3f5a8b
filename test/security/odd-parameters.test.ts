import { beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { listOperations, type OperationObject, resolve } from '../support/contract/contract-paths.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction, type LiveTransaction } from '../support/instances/live-transactions.ts';

let transaction: LiveTransaction;
const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
beforeAll(async () => {
  transaction = await createTransaction(admin);
});

interface Parameter {
  name: string;
  in: 'path' | 'query';
}

const document = readContract();
const parametersOf = (path: string, operation: OperationObject): Parameter[] =>
  [document.paths[path]?.parameters ?? [], (operation as { parameters?: unknown[] }).parameters ?? []]
    .flat()
    .map((each) => resolve<Parameter>(document, each).value);

/** Reading requests with parameters. */
const operations = listOperations(document)
  .map(({ path, method, operation }) => ({
    path,
    method,
    operationId: operation.operationId,
    parameters: parametersOf(path, operation),
  }))
  .filter(({ method, parameters }) => method === 'get' && parameters.length > 0);

const cursor = (...values: unknown[]) => Buffer.from(JSON.stringify(values)).toString('base64url');
const uuid = '00000000-0000-7000-8000-000000000000';

/** As they stand in the address. */
const oddValues = [
  '%00',
  'a%00b',
  '%',
  '%E0%A4%A',
  '%ED%A0%80',
  '%F0%9F%92%A9',
  '..%2F..%2Fetc',
  "'--",
  '%22%3E%3Cscript%3E',
  '__proto__',
  'constructor',
  'toString',
  '-1',
  '0',
  '1e309',
  '9'.repeat(30),
  '1,2,,3',
  'NaN',
  'true',
  '[]',
  '%25s',
  'x'.repeat(2_000),
  uuid,
  '2026-02-30',
  '-9999999999999',
  '+275760-09-13',
  '0000-01-01',
  '9999-12-31T23:59:60Z',
  '2026-01-01T00:00:00%2B99:99',
  cursor('2026-02-30 00:00:00+00', uuid),
  cursor('0000-01-01 00:00:00+00', uuid),
  cursor('2026-01-01 00:00:00+00', '\0'),
  cursor(1, 2),
  cursor('9999-12-31 23:59:59.999999+00', uuid),
  cursor('2026-01-01 00:00:00+00', '1111111111111111111111'),
  cursor(),
  'bnVsbA',
];

describe.each(operations)('$operationId', ({ path, parameters }) => {
  it.each(parameters)('answers odd values of $name as the contract says', async (odd) => {
    const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === odd.name ? '{}' : name === 'txid' ? transaction.id : uuid,
    );
    for (const value of oddValues) {
      const target =
        odd.in === 'path' ? address.replace('{}', value) : `${address}?subject=a&${odd.name}=${value}`;
      // The contract's check refuses every 5xx but 503.
      const response = await admin.get(target);
      expect(response.status, target).toBeLessThan(500);
    }
  });

  it('accepts repeated and missing parameters', async () => {
    const address = path.replaceAll(/\{(\w+)\}/g, uuid);
    const twice = parameters.flatMap(({ name }) => [`${name}=1`, `${name}=2`, `${name}[]=3`, `${name}[a]=4`]);
    for (const target of [`${address}?${twice.join('&')}`, address, `${address}?`, `${address}?&&=&`])
      expect((await admin.get(target)).status, target).toBeLessThan(500);
  });
});
