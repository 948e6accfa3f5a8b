import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { type ResponseObject, resolve } from '../support/contract/contract-paths.ts';
import { type Operation, operations, sendPrepared } from './authorisation/cells.ts';
import { useAdmin } from './authorisation/use-admin.ts';

const { instance, prepareOwn } = useAdmin();
const document = readContract();

/** The media types of an operation's successful responses. */
function typesOf({ contract }: Operation): string[] {
  const successful = Object.entries(contract.responses).filter(([status]) => status.startsWith('2'));
  const types = successful.flatMap(([, response]) =>
    Object.keys(resolve<ResponseObject>(document, response).value.content ?? {}),
  );
  return [...new Set(types)];
}

async function ask(operation: Operation, accept: string) {
  const request = await prepareOwn(operation);
  const response = await sendPrepared(instance, request, { headers: { Accept: accept } });
  await response.text();
  return { status: response.status, type: response.headers.get('content-type') ?? '' };
}

/** Ways to accept a type that mean the same as the type alone (RFC 9110 §12.5.1). */
const spellings: ((type: string) => string)[] = [
  (type) => `${type};level=1`,
  (type) => `${type.toUpperCase()} ; Charset="utf-8" ;q=0.9`,
  (type) => `image/x-none, ${type};version="2, \\"3;q=0";v=1 ; q=0.5`,
];

const cases = operations
  .map((operation) => ({ operation, operationId: operation.operationId, types: typesOf(operation) }))
  .filter(({ types }) => types.length > 0);

describe.each(cases)('$operationId', ({ operation, types }) => {
  it.each(types)('sends %s to a client that accepts it with parameters', async (type) => {
    const plain = await ask(operation, type);
    expect(plain.status).not.toBe(406);
    // The Content-Type of the response itself, as clients that repeat it send it.
    const sent = plain.status < 300 ? plain.type : `${type}; charset=utf-8`;
    for (const accept of [sent, ...spellings.map((spell) => spell(type))]) {
      const { status, type: answered } = await ask(operation, accept);
      expect(status, accept).not.toBe(406);
      if (plain.status < 300 && status < 300) expect(answered, accept).toBe(plain.type);
    }
  });
});

describe('the issuer', () => {
  it.each(['/auth/.well-known/openid-configuration', '/auth/jwks'])(
    'sends %s to a client that accepts JSON with a charset',
    async (path) => {
      const response = await fetch(`${instance.url}${path}`, {
        headers: { Accept: 'application/json; charset=utf-8' },
      });
      expect(response.status).toBe(200);
    },
  );
});

describe('a page', () => {
  it.each(['/', '/docs', '/nowhere', '/console/nowhere', '/auth/interaction/none'])(
    'of %s is sent to a client that accepts HTML with a charset',
    async (path) => {
      const response = await fetch(`${instance.url}${path}`, {
        headers: { Accept: 'text/html; charset=utf-8' },
        redirect: 'follow',
      });
      expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    },
  );
});
