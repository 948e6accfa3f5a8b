import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

/**
 * The certification scenario of OpenID AuthZEN 1.0 (github.com/openid/authzen), levels Basic, Batch and
 * Discovery, and the test plans of the OpenID conformance suite for evaluation and evaluations (core and
 * properties): the eight decisions come from consents, and mappings say which consent each asks about.
 */
const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const operator = useSetup(() => signIn(instance, 'operator'));
const gateway = useSetup(() => createKey(instance, 'gateway', 'DECISION'));

const elements: Record<string, string> = {};
beforeAll(async () => {
  for (const name of ['reading', 'writing', 'archive', 'archiveOfAdmins', 'softDeletion'])
    elements[name] = (await makeLiveModel(admin, 'processing', { en: sampleContent.processing })).key;
  const agree = (subject: string, ...names: string[]) => {
    const answers = names.map((name) => [`element/processing/${elements[name]}/1.0`, ['accepted']]);
    return recordAnswers(operator, subject, Object.fromEntries(answers));
  };
  await agree('alice', 'reading', 'writing', 'softDeletion');
  await agree('bob', 'reading', 'archiveOfAdmins');
  const archived = { 'resource.properties.status': 'archived' };
  const user = { subjectType: 'user', resourceType: 'record' };
  const mappings = [
    {
      ...user,
      action: 'write',
      when: { ...archived, 'subject.properties.role': 'admin' },
      element: elements.archiveOfAdmins,
    },
    { ...user, action: 'write', when: archived, element: elements.archive },
    { ...user, action: 'write', element: elements.writing },
    { ...user, action: 'read', element: elements.reading },
    { ...user, action: 'delete', when: { 'action.properties.soft': true }, element: elements.softDeletion },
  ];
  const stored = await admin.send('PUT', '/access/mappings', { mappings });
  expect(stored.status).toBe(200);
});

const send = (path: string, body: unknown) => gateway.send('POST', `/access/v1/${path}`, body);
const subjectOf = (id: string, properties?: object) => ({
  type: 'user',
  id,
  ...(properties && { properties }),
});
const recordOf = (id: number, properties?: object) => ({
  type: 'record',
  id: `record-${id}`,
  ...(properties && { properties }),
});
const actionOf = (name: string, properties?: object) => ({ name, ...(properties && { properties }) });
const [alice, bob, first, second] = [subjectOf('alice'), subjectOf('bob'), recordOf(1), recordOf(2)];
const [reading, writing] = [actionOf('read'), actionOf('write')];
const context = { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' };
const active = recordOf(1, { status: 'active' });
const archived = recordOf(2, { status: 'archived' });
const asAdmin = subjectOf('bob', { role: 'admin' });
const permitted = { subject: alice, action: reading, resource: first };

describe('AuthZEN: one evaluation', () => {
  it.each([
    ['rule 1: alice reads', permitted, true],
    ['rule 2: alice writes', { ...permitted, action: writing }, true],
    ['rule 3: bob reads', { ...permitted, subject: bob }, true],
    ['rule 4: bob does not write', { ...permitted, subject: bob, action: writing }, false],
    ['with a context', { ...permitted, context }, true],
    [
      'rule 5: alice does not write what is archived',
      { ...permitted, action: writing, resource: archived },
      false,
    ],
    ['rule 6: an admin does', { subject: asAdmin, action: writing, resource: archived }, true],
    ['rule 7: soft deletion', { ...permitted, action: actionOf('delete', { soft: true }) }, true],
    ['rule 8: hard deletion', { ...permitted, action: actionOf('delete', { soft: false }) }, false],
    [
      'properties that no mapping looks at',
      {
        subject: subjectOf('alice', { department: 'Sales', role: 'manager' }),
        action: actionOf('read', { method: 'GET' }),
        resource: recordOf(1, { status: 'active', owner: 'bob' }),
      },
      true,
    ],
    ['members that nobody knows', { ...permitted, foo: 'bar', futureField: { nested: true } }, true],
    [
      'unknown members of a subject',
      { ...permitted, subject: { ...alice, custom: 1, more: { k: 'v' } } },
      true,
    ],
    ['unknown members of an action', { ...permitted, action: { ...reading, custom: [true] } }, true],
    ['unknown members of a resource', { ...permitted, resource: { ...first, custom: null } }, true],
  ])('%s', async (_, body, decision) => {
    const response = await send('evaluation', body);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.json()).toMatchObject({ decision, context: expect.any(Object) });
  });

  it.each([
    ['no subject', { ...permitted, subject: undefined }],
    ['no action', { ...permitted, action: undefined }],
    ['no resource', { ...permitted, resource: undefined }],
    ['a subject without a type', { ...permitted, subject: { id: 'alice' } }],
    ['a subject without an id', { ...permitted, subject: { type: 'user' } }],
    ['an action without a name', { ...permitted, action: {} }],
    ['a resource without a type', { ...permitted, resource: { id: 'record-1' } }],
    ['a resource without an id', { ...permitted, resource: { type: 'record' } }],
    ['a subject that is a text', { ...permitted, subject: 'alice' }],
    ['a name that is a number', { ...permitted, action: { name: 123 } }],
  ])('with %s is a 400', async (_, body) => {
    expect((await send('evaluation', body)).status).toBe(400);
  });

  it('sends back the id of the request, and decides again as before', async () => {
    const ids = [randomUUID(), `conformance-${randomUUID()}`, undefined];
    const responses = await Promise.all(
      ids.map((id) =>
        instance.fetch('/access/v1/evaluation', {
          method: 'POST',
          headers: {
            CM_KEY: gateway.key,
            'Content-Type': 'application/json',
            ...(id && { 'X-Request-ID': id }),
          },
          body: JSON.stringify(permitted),
        }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    const echoed = responses.map(({ headers }) => headers.get('x-request-id'));
    expect(echoed).toEqual([ids[0], ids[1], expect.any(String)]);
    for (const response of responses) expect(await response.json()).toMatchObject({ decision: true });
  });
});

describe.each(['evaluation', 'evaluations'])('AuthZEN: the transport of /access/v1/%s', (point) => {
  const ask = (init: RequestInit, credentials: Record<string, string> = { CM_KEY: gateway.key }) =>
    instance.fetch(`/access/v1/${point}`, {
      method: 'POST',
      body: JSON.stringify(permitted),
      ...init,
      headers: { 'Content-Type': 'application/json', ...credentials, ...init.headers },
    });

  it.each<[string, RequestInit, number]>([
    ['JSON with a charset', { headers: { 'Content-Type': 'application/json; charset=utf-8' } }, 200],
    ['another type of content', { headers: { 'Content-Type': 'text/plain' } }, 415],
    ['JSON that is cut off', { body: '{"subject":' }, 400],
    ['no content', { body: '' }, 400],
    ['a list', { body: JSON.stringify([permitted]) }, 400],
    ['PUT', { method: 'PUT' }, 405],
    ['GET', { method: 'GET', body: null }, 405],
  ])('%s', async (_, init, status) => {
    expect((await ask(init)).status).toBe(status);
  });

  it('challenges a caller without credentials, or with wrong ones', async () => {
    for (const Authorization of [undefined, 'Bearer invalid', `Basic ${btoa('invalid:')}`]) {
      const refused = await ask({}, Authorization ? { Authorization } : {});
      expect(refused.status).toBe(401);
      expect(refused.headers.get('www-authenticate')).toContain('realm=');
    }
  });
});

describe('AuthZEN: several evaluations', () => {
  it.each([
    [
      'several resources',
      { ...permitted, resource: undefined, evaluations: [{ resource: first }, { resource: second }] },
      [true, true],
    ],
    [
      'several actions, in order',
      { subject: bob, resource: first, evaluations: [{ action: reading }, { action: writing }] },
      [true, false],
    ],
    [
      'properties of each resource',
      { subject: alice, action: writing, evaluations: [{ resource: active }, { resource: archived }] },
      [true, false],
    ],
    [
      'properties of each subject',
      { action: writing, resource: archived, evaluations: [{ subject: alice }, { subject: asAdmin }] },
      [false, true],
    ],
    [
      'nothing in common',
      { evaluations: [permitted, { subject: bob, action: writing, resource: first }] },
      [true, false],
    ],
    [
      'a context of their own',
      {
        ...permitted,
        resource: undefined,
        context,
        evaluations: [{ resource: first }, { resource: second, context: { source: 'own' } }],
      },
      [true, true],
    ],
    [
      'one that has everything in common',
      { ...permitted, action: writing, resource: active, evaluations: [{}, { resource: archived }] },
      [true, false],
    ],
    [
      'what is common, and one member of its own',
      { subject: bob, action: writing, resource: first, evaluations: [{ action: reading }, {}] },
      [true, false],
    ],
    [
      'the type of a resource from the request',
      {
        subject: alice,
        action: writing,
        resource: { type: 'record' },
        evaluations: [{ resource: { id: active.id, properties: active.properties } }, { resource: archived }],
      },
      [true, false],
    ],
    [
      'properties of the request only where a member has none of its own',
      {
        ...permitted,
        action: writing,
        resource: archived,
        evaluations: [{ resource: { id: 'record-1' } }, {}],
      },
      [true, false],
    ],
    ['no subject at all', { action: reading, evaluations: [{ resource: first }] }, [false]],
    [
      'members that nobody knows',
      { ...permitted, foo: 'bar', evaluations: [{ resource: second, future: { nested: true } }] },
      [true],
    ],
    [
      'one without a resource',
      {
        subject: alice,
        action: reading,
        options: { evaluations_semantic: 'execute_all' },
        evaluations: [{ resource: first }, {}],
      },
      [true, false],
    ],
    [
      'one without the id of its resource',
      {
        subject: alice,
        action: reading,
        evaluations: [{ resource: { type: 'record' } }, { resource: first }],
      },
      [false, true],
    ],
    [
      'until the first denial',
      {
        ...permitted,
        options: { evaluations_semantic: 'deny_on_first_deny' },
        evaluations: [{}, { subject: bob, action: writing }, {}],
      },
      [true, false],
    ],
    [
      'until the first permission',
      {
        ...permitted,
        options: { evaluations_semantic: 'permit_on_first_permit' },
        evaluations: [{ subject: bob, action: writing }, {}, {}],
      },
      [false, true],
    ],
  ])('%s', async (_, body, decisions) => {
    const response = await send('evaluations', body);
    expect(response.status).toBe(200);
    const answered = (await response.json()) as { decision?: boolean; evaluations: { decision: boolean }[] };
    expect(answered.evaluations.map(({ decision }) => decision)).toEqual(decisions);
    expect(answered).not.toHaveProperty('decision');
  });

  it('a list that is absent or empty is one evaluation', async () => {
    for (const body of [permitted, { ...permitted, evaluations: [] }]) {
      const response = await send('evaluations', body);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ decision: true });
    }
    expect((await send('evaluations', { subject: alice })).status).toBe(400);
  });

  it('takes none but the three semantics, and decides again as before', async () => {
    const batch = { ...permitted, evaluations: [{}, { action: writing, subject: bob }] };
    const other = { ...batch, options: { evaluations_semantic: 'bogus_value' } };
    expect((await send('evaluations', other)).status).toBe(400);
    for (let time = 0; time < 3; time += 1) {
      const response = await send('evaluations', batch);
      expect(await response.json()).toMatchObject({ evaluations: [{ decision: true }, { decision: false }] });
    }
  });
});

describe('AuthZEN: the other end', () => {
  it('finds everything by the metadata', async () => {
    const found = await instance.fetch('/.well-known/authzen-configuration');
    expect(found.headers.get('content-type')).toContain('application/json');
    const { capabilities, ...endpoints } = (await found.json()) as Record<string, string>;
    expect(endpoints.policy_decision_point).toBe(instance.url);
    expect(capabilities).toEqual([]);
    expect(Object.keys(endpoints)).not.toContain('search_subject_endpoint');
    for (const endpoint of [endpoints.access_evaluation_endpoint, endpoints.access_evaluations_endpoint])
      expect((await gateway.send('POST', new URL(endpoint ?? '').pathname, permitted)).status).toBe(200);
  });

  it('sends its key as a bearer token or with Basic, here and nowhere else', async () => {
    const ask = (path: string, authorization: string) =>
      instance.fetch(path, {
        method: 'POST',
        headers: { Authorization: authorization, 'Content-Type': 'application/json' },
        body: JSON.stringify(
          path === '/decisions'
            ? { subject: 'alice', questions: [{ element: elements.reading }] }
            : permitted,
        ),
      });
    const { key } = gateway;
    const basic = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
    const wrong = `Bearer ${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`;
    const statuses = [
      ask('/access/v1/evaluation', `Bearer ${key}`),
      ask('/access/v1/evaluations', `bearer ${key}`),
      ask('/access/v1/evaluation', basic),
      ask('/access/v1/evaluation', wrong),
      ask('/decisions', basic),
      ask('/decisions', `Bearer ${key}`),
    ].map(async (response) => (await response).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 401, 200, 401]);
  });
});
