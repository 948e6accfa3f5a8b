import { describe, expect, test } from 'vitest';
import { createContractChecker, type ObservedResponse, readContract } from '../support/contract/contract.ts';

const document = readContract();
const { check } = createContractChecker(document);
const examples = document.components.examples as Record<string, { value: Record<string, unknown> }>;
const example = (name: string) => structuredClone(examples[name]?.value) as Record<string, unknown>;

/** A valid response to GET of a transaction; each test changes one member. */
function observed(
  changes: Partial<Omit<ObservedResponse, 'headers'>> & { headers?: Record<string, string> } = {},
) {
  const { headers, ...others } = changes;
  return {
    method: 'GET',
    path: '/consents/7Zk3pQxWm4tYv9LsRb2NcD?t=secret',
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify(example('TransactionCreated')),
    ...others,
    headers: new Headers({ 'API-Version': '1.0.0', ...headers }),
  };
}

const problem = (name: string, changes: Record<string, unknown> = {}) => ({
  contentType: 'application/problem+json',
  body: JSON.stringify({ ...example(name), ...changes }),
});

describe('the contract checker holds pointers of faults to what was sent', () => {
  const asked = { subject: 'jane', layoutData: { elements: ['a'] } };
  const answered = (pointer: string, sent: unknown = asked) =>
    observed({
      method: 'POST',
      path: '/consents',
      status: 422,
      ...problem('ProblemUnknownElement', {
        errors: [{ pointer, code: 'unknown-element', detail: 'is unknown' }],
      }),
      sent: { type: 'application/json', body: JSON.stringify(sent) },
    });

  test.each(['', '/subject', '/layoutData/elements/0', '/layoutData/info', '/configuration'])(
    '%s',
    (pointer) => {
      expect(() => check(answered(pointer))).not.toThrow();
    },
  );

  test.each([
    ['/subject/0', 'goes on in what is no object'],
    ['/layoutData/elements/1', 'an item that the list does not have'],
    ['/configuration/timeout', '"configuration" was not sent'],
    ['/unheard', 'is no member of the contract'],
  ])('not %s', (pointer, why) => {
    expect(() => check(answered(pointer))).toThrow(why);
  });
});

describe('the contract checker accepts', () => {
  test('a representation, as text or parsed', () => {
    expect(() => check(observed())).not.toThrow();
    expect(() => check(observed({ body: example('TransactionCreated') }))).not.toThrow();
  });

  test('a page', () => {
    expect(() =>
      check(observed({ contentType: 'text/html; charset=utf-8', body: '<!doctype html>' })),
    ).not.toThrow();
  });

  test('a redirection, whatever its body', () => {
    const headers = { Location: 'https://consent.example.org/consents/7Zk3/submit?t=x' };
    expect(() =>
      check(observed({ status: 303, contentType: 'text/html', body: 'See', headers })),
    ).not.toThrow();
  });

  test('a problem with a documented code, as a document or a page', () => {
    expect(() => check(observed({ status: 404, ...problem('ProblemNotFound') }))).not.toThrow();
    expect(() =>
      check(observed({ status: 404, contentType: 'text/html', body: '<!doctype html>' })),
    ).not.toThrow();
  });

  test('HEAD like GET, without a body', () => {
    expect(() => check(observed({ method: 'HEAD', body: '' }))).not.toThrow();
  });

  test('404 for an undocumented path, and 405 with Allow for an undocumented method', () => {
    expect(() =>
      check(observed({ path: '/nowhere', status: 404, ...problem('ProblemNotFound') })),
    ).not.toThrow();
    const notAllowed = problem('ProblemNotFound', {
      type: 'https://consent.example.org/docs/problems/method-not-allowed',
      code: 'method-not-allowed',
      status: 405,
    });
    const headers = { Allow: 'GET, HEAD' };
    expect(() => check(observed({ method: 'DELETE', status: 405, ...notAllowed, headers }))).not.toThrow();
    expect(() => check(observed({ method: 'DELETE', status: 405, ...notAllowed }))).toThrow(
      'Allow is missing',
    );
  });

  test('a literal path before one with a parameter', () => {
    const found = { method: 'POST', path: '/consents/singlestep', status: 303, contentType: null, body: '' };
    expect(() => check(observed(found))).toThrow('not documented for createSingleStepTransaction');
  });
});

describe('the contract checker rejects', () => {
  test('an undocumented path', () => {
    expect(() => check(observed({ path: '/consents/1/2/3' }))).toThrow('the path is not documented');
  });

  test('an undocumented method', () => {
    expect(() => check(observed({ method: 'PUT' }))).toThrow('the method is not documented');
  });

  test('an undocumented status', () => {
    expect(() => check(observed({ status: 500, ...problem('ProblemUnavailable') }))).toThrow(
      'GET /consents/7Zk3pQxWm4tYv9LsRb2NcD answered 500, but the status is not documented for getTransaction',
    );
  });

  test('an undocumented media type', () => {
    expect(() => check(observed({ contentType: 'text/plain' }))).toThrow(
      'media type "text/plain" is not documented',
    );
    expect(() => check(observed({ contentType: null }))).toThrow('media type "" is not documented');
  });

  test('an undocumented body', () => {
    const request = { method: 'DELETE', path: '/keys/1', status: 204, contentType: null, body: 'gone' };
    expect(() => check(observed(request))).toThrow('a body, but none is documented');
  });

  test('an undocumented member', () => {
    const body = { ...example('TransactionCreated'), answers: {} };
    expect(() => check(observed({ body }))).toThrow(/must NOT have additional properties \(answers\)/);
  });

  test('a missing member, and a member of the wrong type', () => {
    const { subject: _, ...withoutSubject } = example('TransactionCreated');
    expect(() => check(observed({ body: withoutSubject }))).toThrow("must have required property 'subject'");
    const body = { ...example('TransactionCreated'), updatable: 'yes' };
    expect(() => check(observed({ body }))).toThrow('/updatable must be boolean');
  });

  test('null instead of an absent member', () => {
    const body = { ...example('TransactionCreated'), parent: null };
    expect(() => check(observed({ body }))).toThrow('/parent must be string');
  });

  test('a missing header', () => {
    expect(() => check(observed({ status: 401, ...problem('ProblemUnauthorized') }))).toThrow(
      'the header WWW-Authenticate is missing',
    );
  });

  test('a problem with another code or another status', () => {
    expect(() => check(observed({ status: 404, ...problem('ProblemForbidden', { status: 404 }) }))).toThrow(
      'the problem code "forbidden" is not documented',
    );
    expect(() => check(observed({ status: 404, ...problem('ProblemNotFound', { status: 400 }) }))).toThrow(
      'the problem says status 400',
    );
    expect(() => check(observed({ status: 404, ...problem('ProblemNotFound', { code: 'gone' }) }))).toThrow(
      'the problem has the code gone, and the type of not-found',
    );
  });

  test('invalid JSON', () => {
    expect(() => check(observed({ body: '{' }))).toThrow('its body is not JSON');
  });
});
