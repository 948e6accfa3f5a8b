import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Decision = components['schemas']['ElementDecision'] & components['schemas']['PurposeDecision'];
type Decisions = { asOf: string; decisions: Decision[] };

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const purpose = 'CONSENT_IMPROVED_SERVICE';
const content = { en: { ...sampleContent.processing, purposes: [] } };
const makeElement = () => makeLiveModel(admin, 'processing', content);
const newSubject = () => `subject ${randomUUID()}`;
let validity = 1000;
/** Each in a transaction of its own: another validity makes another context. */
const record = (subject: string, key: string, answer: string, context = {}, serial = '1.0') => {
  validity += 1;
  const given = { validity: `P${validity}D`, ...context };
  return recordAnswers(operator, subject, { [`element/processing/${key}/${serial}`]: [answer] }, given);
};

const ask = async (body: Record<string, unknown>) => {
  const response = await operator.send('POST', '/decisions', body);
  expect(response.status).toBe(200);
  return (await response.json()) as Decisions;
};
const decide = async (subject: string, element: string, more = {}) =>
  (await ask({ subject, questions: [{ element }], ...more })).decisions[0] as Decision;
const reason = async (subject: string, element: string, more = {}) =>
  (await decide(subject, element, more)).reason;
/** A question that is asked a second after the change, or later, gets the new answer. */
async function withinASecond(isSeen: () => Promise<boolean>): Promise<void> {
  const changed = performance.now();
  for (;;) {
    const asked = performance.now();
    if (await isSeen()) return;
    expect(asked - changed, 'ms after the change').toBeLessThan(1000);
  }
}

describe('a decision', () => {
  it('follows the answers: none, accepted, withdrawn, accepted again', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    expect(await decide(subject, key)).toEqual({
      allowed: false,
      reason: 'NO_ANSWER',
      element: key,
      asOf: expect.any(String),
      position: 0,
    });
    await record(subject, key, 'accepted');
    expect(await decide(subject, key)).toMatchObject({ allowed: true, reason: 'GIVEN', serial: '1.0' });
    await record(subject, key, 'refused');
    expect(await decide(subject, key)).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
    await record(subject, key, 'refused');
    expect(await reason(subject, key)).toBe('REFUSED');
    await record(subject, key, 'accepted');
    expect(await reason(subject, key)).toBe('GIVEN');
  });

  it('names the record that the list of records shows', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    await record(subject, key, 'accepted');
    const decision = await decide(subject, `element/processing/${key}/1.0`);
    const records = (await (
      await operator.get(`/records?subject=${encodeURIComponent(subject)}`)
    ).json()) as Record<string, { serial: string }[]>;
    expect(decision).toMatchObject({ element: key, record: records[key]?.[0]?.serial });
  });

  it('does not take the answer about one object for another, or for none', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    await record(subject, key, 'accepted', { object: 'card 7' });
    expect(await decide(subject, key, { object: 'card 7' })).toMatchObject({
      reason: 'GIVEN',
      object: 'card 7',
    });
    expect(await reason(subject, key)).toBe('NO_ANSWER');
    expect(await reason(subject, key, { object: 'card 8' })).toBe('NO_ANSWER');
  });

  it('ends with the answer, and when the texts change in a MAJOR, within a second', async () => {
    const element = await makeElement();
    const info = await makeLiveModel(admin, 'information', { en: sampleContent.information });
    const subject = newSubject();
    const context = { layoutData: { info: info.key, elements: [element.key] }, validity: 'P10D' };
    await record(subject, element.key, 'accepted', context);
    await letTimePass(instance, '11 days');
    expect(await reason(subject, element.key)).toBe('EXPIRED');
    await letTimePass(instance, '0');
    await activateContent(admin, info, { en: sampleContent.information }, 'MAJOR');
    await withinASecond(async () => (await reason(subject, element.key)) === 'NOTICE_CHANGED');
    await record(subject, element.key, 'accepted', context);
    await withinASecond(async () => (await reason(subject, element.key)) === 'GIVEN');
    await activateContent(admin, element, content, 'MINOR');
    expect(await reason(subject, element.key)).toBe('GIVEN');
    await activateContent(admin, element, content, 'MAJOR');
    await withinASecond(async () => (await reason(subject, element.key)) === 'CHANGED');
    await withdrawModel(admin, element);
    await withinASecond(async () => (await reason(subject, element.key)) === 'NOT_ACTIVE');
  });

  it('is NO_ANSWER while a code is awaited', async () => {
    const { key } = await makeElement();
    const context = { layoutData: { elements: [key] }, confirmation: 'FORM_CODE' };
    const { id, subject } = await createTransaction(operator, context);
    await operator.send('POST', `/consents/${id}/submit`, {
      [`element/processing/${key}/1.0`]: ['accepted'],
    });
    expect(await reason(subject, key)).toBe('NO_ANSWER');
  });

  it('is UNKNOWN for keys that nothing has, even those that every JavaScript object has, and for preferences', async () => {
    for (const key of ['no.such.key', 'constructor', '__proto__', 'preference.003', 'a/b'])
      expect(await decide('ann', key)).toMatchObject({ allowed: false, reason: 'UNKNOWN', element: key });
    const { decisions } = await ask({ subject: 'ann', questions: [{ purpose: 'constructor' }] });
    expect(decisions[0]).toMatchObject({ allowed: false, reason: 'UNKNOWN', decisions: [] });
  });
});

describe('a decision about a purpose', () => {
  it('is allowed only if every ACTIVE processing with the purpose is', async () => {
    const subject = newSubject();
    const withPurpose = { en: { ...sampleContent.processing, purposes: [purpose] } };
    const first = await makeLiveModel(admin, 'processing', withPurpose);
    const second = await makeLiveModel(admin, 'processing', withPurpose);
    const decideIt = async () => (await ask({ subject, questions: [{ purpose }] })).decisions[0] as Decision;
    // The demonstration has elements with it, too.
    const having = (await decideIt()).decisions.map(({ element }) => element);
    for (const key of having.filter((each) => each !== second.key)) await record(subject, key, 'accepted');
    await withinASecond(async () => (await decideIt()).reason === 'NO_ANSWER');
    expect(await decideIt()).toMatchObject({ allowed: false, reason: 'NO_ANSWER', purpose });
    await record(subject, second.key, 'accepted');
    const decision = await decideIt();
    expect(decision).toMatchObject({ allowed: true, reason: 'GIVEN' });
    const keys = decision.decisions.map(({ element }) => element);
    expect(keys).toEqual(expect.arrayContaining([first.key, second.key]));
    await withdrawModel(admin, second);
    const rest = keys.filter((key) => key !== second.key);
    await withinASecond(async () => (await decideIt()).decisions.length === rest.length);
    expect((await decideIt()).decisions.map(({ element }) => element)).toEqual(rest);
  });
});

describe('questions', () => {
  it('take what they lack from the request, and are answered in their order', async () => {
    const { key } = await makeElement();
    const [ann, ben] = [newSubject(), newSubject()];
    await record(ann, key, 'accepted', { object: 'car' });
    const { asOf, decisions } = await ask({
      subject: ann,
      object: 'car',
      questions: [
        { element: key },
        { element: key, subject: ben },
        { element: 'nothing' },
        { element: key, object: 'boat' },
      ],
    });
    expect(decisions.map((each) => each.reason)).toEqual(['GIVEN', 'NO_ANSWER', 'UNKNOWN', 'NO_ANSWER']);
    expect(new Date(asOf).getTime()).toBeGreaterThan(0);
  });

  it('may ask for collected evidence, which all answers have', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    await record(subject, key, 'accepted');
    const asked = { subject, evidence: 'COLLECTED', questions: [{ element: key, evidence: 'COLLECTED' }] };
    const decided = await operator.send('POST', '/decisions', asked);
    expect(await decided.json()).toMatchObject({ decisions: [{ reason: 'GIVEN', evidence: 'COLLECTED' }] });
    const path = `/decisions?subject=${encodeURIComponent(subject)}&element=${key}&evidence=COLLECTED`;
    expect(await (await operator.get(path)).json()).toMatchObject({ reason: 'GIVEN' });
    const wrong = { ...asked, evidence: 'BELIEVED' };
    expect((await operator.send('POST', '/decisions', wrong)).status).toBe(400);
  });

  it('about a past time are answered as they would have been then', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('accepted', 'refused'), { maxLength: 4 }),
        async (answers) => {
          for (const answer of answers) await record(subject, key, answer);
          const records = (await (
            await operator.get(`/records?subject=${encodeURIComponent(subject)}&elements=${key}`)
          ).json()) as Record<string, { serial: string; value: string; creationTimestamp: number }[]>;
          const history = (records[key] ?? []).toReversed();
          const decisions = await Promise.all(
            history.map(({ creationTimestamp }) =>
              decide(subject, key, { asOf: new Date(creationTimestamp + 1).toISOString() }),
            ),
          );
          const expected = history.map(({ value }, place) => {
            if (value === 'accepted') return 'GIVEN';
            return history[place - 1]?.value === 'accepted' ? 'WITHDRAWN' : 'REFUSED';
          });
          expect(decisions.map((decision) => decision.reason)).toEqual(expected);
          expect(decisions.map((decision) => decision.record)).toEqual(history.map(({ serial }) => serial));
        },
      ),
      { numRuns: 5 },
    );
    expect(await reason(subject, key, { asOf: '2020-01-01' })).toBe('NO_ANSWER');
  });

  it('that cannot be answered are rejected with the place of each fault', async () => {
    const future = new Date(Date.now() + 60_000).toISOString();
    const wrong: [unknown, string[]][] = [
      [{ questions: [{ element: 'a1' }] }, ['/questions/0/subject']],
      [
        { subject: 'ann', questions: [{}, { element: 'a1', purpose: 'b' }] },
        ['/questions/0/element', '/questions/1/element'],
      ],
      [{ subject: 'ann', asOf: future, questions: [{ element: 'a1' }, { element: 'a2' }] }, ['/asOf']],
      [
        { subject: 'ann', asOf: 'soon', questions: [{ element: 'a1' }, { element: 'a2', asOf: future }] },
        ['/asOf', '/questions/1/asOf'],
      ],
      [{ subject: ' ', questions: [{ element: 'a1' }, { element: 'a2' }] }, ['/subject']],
      [{ subject: 'ann', questions: [{ element: 'a1', asOf: 'soon' }] }, ['/questions/0/asOf']],
      [{ subject: 'ann', questions: [] }, ['/questions']],
      [{ subject: 'ann', questions: Array.from({ length: 101 }, () => ({ element: 'a1' })) }, ['/questions']],
    ];
    for (const [body, pointers] of wrong) {
      const response = await operator.send('POST', '/decisions', body);
      expect(response.status).toBe(422);
      const { errors } = (await response.json()) as { errors: { pointer: string }[] };
      expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    }
  });

  it('in the terms of AuthZEN are rejected with the place of each fault', async () => {
    const future = new Date(Date.now() + 60_000).toISOString();
    const subject = { type: 'subject', id: 'ann' };
    const resource = { type: 'element', id: 'a1' };
    const question = { subject, action: { name: 'process' }, resource, context: { asOf: future } };
    const wrong: [string, unknown, string[]][] = [
      ['evaluation', question, ['/context/asOf']],
      ['evaluation', { ...question, context: {}, subject: { ...subject, id: '' } }, ['/subject/id']],
      ['evaluations', { ...question, evaluations: [{}, { resource }] }, ['/context/asOf']],
      [
        'evaluations',
        { ...question, context: {}, evaluations: [{}, { context: { asOf: 'soon' } }] },
        ['/evaluations/1/context/asOf'],
      ],
    ];
    for (const [path, body, pointers] of wrong) {
      const response = await operator.send('POST', `/access/v1/${path}`, body);
      expect(response.status).toBe(422);
      const { errors } = (await response.json()) as { errors: { pointer: string }[] };
      expect(errors.map(({ pointer }) => pointer)).toEqual(pointers);
    }
  });

  it('about somebody else are forbidden to people, in every form', async () => {
    const user = await signIn(instance, 'user');
    const evaluation = {
      subject: { type: 'subject', id: 'ann' },
      action: { name: 'process' },
      resource: { type: 'element', id: 'processing.001' },
    };
    const questions = [{ element: 'processing.001' }, { element: 'processing.001', subject: 'ann' }];
    const statuses = await Promise.all([
      user.send('POST', '/decisions', { subject: 'user', questions }),
      user.get('/decisions?subject=ann&element=processing.001'),
      user.send('POST', '/access/v1/evaluation', evaluation),
      user.send('POST', '/access/v1/evaluations', { evaluations: [evaluation] }),
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });
});

describe('a key of scope DECISION', () => {
  const ofKey = async (elements?: string[]) => {
    const made = await admin.send('POST', '/keys', { name: 'gateway', scope: 'DECISION', elements });
    expect(made.status).toBe(201);
    const { key } = (await made.json()) as { key: string };
    return (path: string, json?: unknown) =>
      instance.fetch(path, {
        method: json ? 'POST' : 'GET',
        headers: { CM_KEY: key, 'Content-Type': 'application/json' },
        ...(json ? { body: JSON.stringify(json) } : {}),
      });
  };

  it('asks about everybody, and opens nothing else', async () => {
    const send = await ofKey();
    const asked = await send('/decisions', {
      subject: 'ann',
      questions: [{ element: 'processing.001' }, { purpose }],
    });
    expect(asked.status).toBe(200);
    const others = await Promise.all(
      ['/records?subject=ann', '/transactions', '/user', '/models'].map((path) => send(path)),
    );
    expect(others.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  });

  it('with elements asks about these alone, and not about purposes', async () => {
    const send = await ofKey(['processing.001']);
    const statuses = await Promise.all(
      [{ element: 'element/processing/processing.001/1.0' }, { element: 'processing.002' }, { purpose }].map(
        async (question) => (await send('/decisions', { subject: 'ann', questions: [question] })).status,
      ),
    );
    expect(statuses).toEqual([200, 403, 403]);
  });

  it('is the only one that has elements, and has at least one then', async () => {
    const wrong = [
      { scope: 'OWNER', elements: ['processing.001'] },
      { scope: 'DECISION', elements: [] },
    ];
    for (const body of wrong) {
      const response = await admin.send('POST', '/keys', { name: 'wrong', ...body });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ errors: [{ pointer: '/elements' }] });
    }
  });
});

it('a decision has an entity tag that stays until the decision changes', async () => {
  const { key } = await makeElement();
  const subject = newSubject();
  await record(subject, key, 'accepted');
  const path = `/decisions?subject=${encodeURIComponent(subject)}&element=${key}`;
  const get = (etag?: string) =>
    instance.fetch(path, { headers: { ...operator.headers, ...(etag && { 'If-None-Match': etag }) } });
  const first = await get();
  const etag = first.headers.get('etag') ?? '';
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  expect((await get(etag)).status).toBe(304);
  await record(subject, key, 'refused');
  const changed = await get(etag);
  expect(changed.status).toBe(200);
  expect(await changed.json()).toMatchObject({ allowed: false, reason: 'WITHDRAWN' });
});

describe('AuthZEN', () => {
  const evaluation = (subject: string, element: string) => ({
    subject: { type: 'subject', id: subject },
    action: { name: 'process' },
    resource: { type: 'element', id: element },
  });
  const evaluate = async (path: string, body: unknown) => {
    const response = await operator.send('POST', `/access/v1/${path}`, body);
    expect(response.status).toBe(200);
    return response.json();
  };

  it('decides as /decisions does', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    await record(subject, key, 'accepted', { object: 'card 7' });
    const { allowed, ...context } = await decide(subject, key, { object: 'card 7' });
    const asked = evaluation(subject, key);
    const resource = { ...asked.resource, properties: { object: 'card 7', color: 'red' } };
    expect(await evaluate('evaluation', { ...asked, resource })).toEqual({
      decision: allowed,
      context: { ...context, asOf: expect.any(String) },
    });
    expect(await evaluate('evaluations', { ...asked, resource })).toMatchObject({ decision: true });
  });

  it('is false for what consents say nothing about', async () => {
    const asked = evaluation('ann', 'processing.001');
    const others = [
      { ...asked, subject: { type: 'user', id: 'ann' } },
      { ...asked, action: { name: 'delete' } },
      { ...asked, resource: { type: 'document', id: '1' } },
    ];
    for (const other of others)
      expect(await evaluate('evaluation', other)).toEqual({
        decision: false,
        context: { reason: 'UNKNOWN' },
      });
  });

  it('stops at the decision that its semantic names', async () => {
    const { key } = await makeElement();
    const subject = newSubject();
    await record(subject, key, 'accepted');
    const { resource: given, ...common } = evaluation(subject, key);
    const resources = [given, { type: 'element', id: 'none' }, { type: 'other', id: '' }, given];
    const evaluations = resources.map((resource) => ({ resource }));
    const decisions = async (semantic?: string) => {
      const options = semantic && { evaluations_semantic: semantic };
      const answer = (await evaluate('evaluations', { ...common, evaluations, options })) as {
        evaluations: { decision: boolean }[];
      };
      return answer.evaluations.map(({ decision }) => decision);
    };
    expect(await decisions()).toEqual([true, false, false, true]);
    expect(await decisions('execute_all')).toEqual([true, false, false, true]);
    expect(await decisions('deny_on_first_deny')).toEqual([true, false]);
    expect(await decisions('permit_on_first_permit')).toEqual([true]);
  });

  it('rejects an evaluation without a subject, an action or a resource', async () => {
    for (const name of ['subject', 'action', 'resource']) {
      const asked = { ...evaluation('ann', 'processing.001'), [name]: undefined };
      expect((await operator.send('POST', '/access/v1/evaluation', asked)).status).toBe(400);
    }
  });

  it('is found by its metadata', async () => {
    const found = await instance.fetch('/.well-known/authzen-configuration');
    expect(await found.json()).toEqual({
      policy_decision_point: instance.url,
      access_evaluation_endpoint: `${instance.url}/access/v1/evaluation`,
      access_evaluations_endpoint: `${instance.url}/access/v1/evaluations`,
      capabilities: [],
    });
  });
});
