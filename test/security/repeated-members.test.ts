import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { resolve } from '../support/contract/contract-paths.ts';
import { signIn } from '../support/instances/callers.ts';
import { letter, often, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { operations, sendPrepared } from './authorisation/cells.ts';
import { useAdmin } from './authorisation/use-admin.ts';

const { instance, prepareOwn } = useAdmin();
const document = readContract();
const withJson = operations.filter(({ contract }) => {
  // A session of choices alone, which an administrator does not have.
  if (!contract.requestBody || Object.keys(contract['x-roles'] ?? {}).join() === 'choices') return false;
  const { content } = resolve<{ content: object }>(document, contract.requestBody).value;
  return Object.hasOwn(content, 'application/json');
});

/** The text with its first member, and with its last one, once more. */
function repeat(json: string): string[] {
  const [first] = Object.entries(JSON.parse(json) as object);
  if (!first) return ['{"a":1,"a":1}'];
  const [name, value] = first;
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  const escaped = `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}:null`;
  return [`${json.slice(0, -1)},${member}}`, `{${escaped},${json.slice(1)}`, `{"x":[${json}],"x":1}`];
}

describe.each(withJson.map((operation) => ({ operation, operationId: operation.operationId })))(
  '$operationId',
  ({ operation }) => {
    it('refuses a body that gives a member twice, and names it', async () => {
      const request = await prepareOwn(operation);
      for (const body of repeat(String(request.init.body ?? '{}'))) {
        const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/html;q=0.1' };
        const response = await sendPrepared(instance, request, { body, headers });
        const { errors } = (await response.json()) as { errors?: { pointer: string; detail: string }[] };
        expect(response.status, body).toBe(400);
        expect(errors?.[0], body).toMatchObject({
          pointer: expect.stringMatching(/^\//),
          detail: 'The value has two members of the same name.',
        });
      }
    });
  },
);

it('a form with two answers to one question keeps waiting for an answer', async () => {
  const operator = await signIn(instance, 'operator');
  const transaction = await createTransaction(operator);
  const subject = subjectOf(instance, transaction);
  const body = `{"${letter}":"refused","${letter}":"accepted","${study}":"refused","${often}":"Once a month"}`;
  const response = await instance.fetch(`/consents/${transaction.id}/submit?t=${transaction.token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  expect(response.status).toBe(400);
  expect(((await (await subject.get('')).json()) as { state: string }).state).toBe('CREATED');
});
