import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createAccessMappings } from '../../services/transactions/decisions/mappings-store.ts';
import { readAudit } from '../support/instances/audit-reader.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { activateContent } from '../support/instances/live-models.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const operator = useSetup(() => signIn(instance, 'operator'));

const put = (mappings: unknown[]) => admin.send('PUT', '/access/mappings', { mappings });
const newSubject = () => `ann ${randomUUID()}`;
const askedBy = (id: string, resource: object = { type: 'card', id: '7' }) => ({
  subject: { type: 'customer', id },
  action: { name: 'pay' },
  resource,
});
const evaluate = async (body: object, caller = operator) => {
  const response = await caller.send('POST', '/access/v1/evaluation', body);
  expect(response.status).toBe(200);
  return (await response.json()) as {
    decision: boolean;
    context: { reason: string; object?: string; access_request?: { form_url: string } };
  };
};

it('mappings are read as they were stored, and changing them leaves a line in the log', async () => {
  const mappings = [
    {
      action: 'pay',
      element: 'processing.001',
      object: 'resource.properties.card',
      when: { 'resource.id': '7' },
    },
  ];
  expect((await put(mappings)).status).toBe(200);
  expect(await (await operator.get('/access/mappings')).json()).toEqual({ mappings });
  const { values } = await readAudit(admin.get, 'consents', '?action=mappings.updated');
  expect(values[0]).toMatchObject({ actorKind: 'account', target: 'setting/mappings' });
  expect((await operator.send('PUT', '/access/mappings', { mappings: [] })).status).toBe(403);
});

it('an element may be named as soon as it is created, though it was unknown a moment before', async () => {
  for (let round = 0; round < 5; round += 1) {
    const mappings = [{ element: `new.${randomUUID()}` }];
    expect((await put(mappings)).status).toBe(422);
    const key = mappings[0]?.element;
    const made = await admin.send('POST', '/models', { type: 'processing', name: 'New', key });
    const { id } = (await made.json()) as { id: string };
    await activateContent(
      admin,
      { id, key: String(key) },
      { en: { title: 'New', data: 'Name', usage: 'To write', retention: { fullText: 'A year' } } },
    );
    expect((await put(mappings)).status).toBe(200);
  }
});

it('an evaluation is about the object that its mapping names, and about nothing without it', async () => {
  await put([{ subjectType: 'customer', element: 'processing.001', object: 'resource.properties.card' }]);
  const subject = newSubject();
  const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
  await recordAnswers(operator, subject, answers, { object: '7' });
  const ofCard = (card?: unknown) =>
    evaluate(askedBy(subject, { type: 'card', id: 'x', properties: { card } }));
  expect(await ofCard('7')).toMatchObject({ decision: true, context: { object: '7' } });
  expect(await ofCard(7)).toMatchObject({ decision: true });
  expect(await ofCard('8')).toMatchObject({ decision: false, context: { reason: 'NO_ANSWER' } });
  for (const none of [undefined, '', true, {}])
    expect(await ofCard(none)).toEqual({ decision: false, context: { reason: 'UNKNOWN' } });
});

it('a denial that an answer can mend has the URL of a form, for those who may create transactions', async () => {
  const capture = { layoutData: { elements: ['processing.001'] }, ask: 'CHANGED' };
  await put([{ subjectType: 'customer', element: 'processing.001', object: 'resource.id', capture }]);
  const subject = newSubject();
  const [one, same] = await Promise.all([evaluate(askedBy(subject)), evaluate(askedBy(subject))]);
  const url = new URL(one.context.access_request?.form_url ?? '');
  expect(new URL(same.context.access_request?.form_url ?? '').pathname).toBe(url.pathname);
  const submitted = await instance.fetch(`${url.pathname}/submit${url.search}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ 'element/processing/processing.001/1.0': ['accepted'] }),
  });
  expect(submitted.status).toBe(200);
  expect(await evaluate(askedBy(subject))).toMatchObject({ decision: true });
  const gateway = await createKey(instance, 'gateway', 'DECISION');
  const other = newSubject();
  expect((await evaluate(askedBy(other), gateway)).context).not.toHaveProperty('access_request');
  const batch = { ...askedBy(other), evaluations: [{}, {}] };
  const many = await operator.send('POST', '/access/v1/evaluations', batch);
  const { evaluations } = (await many.json()) as { evaluations: Awaited<ReturnType<typeof evaluate>>[] };
  const [first, second] = evaluations.map(({ context }) => context.access_request?.form_url);
  expect(first).toBe(second);
  expect(first).toBeTruthy();
});

it('a form that cannot be made leaves the decision as it is', async () => {
  const capture = { layout: 'layout.that.is.gone' };
  await put([{ subjectType: 'customer', element: 'processing.001', capture }]);
  const { decision, context } = await evaluate(askedBy(newSubject()));
  expect({ decision, reason: context.reason }).toEqual({ decision: false, reason: 'NO_ANSWER' });
  expect(context).not.toHaveProperty('access_request');
});

it('each fault of a mapping is named', async () => {
  const element = 'processing.001';
  const wrong: [object, string][] = [
    [{}, '/element'],
    [{ element, purpose: 'CONSENT_MARKETING' }, '/element'],
    [{ element: 'no.such.key' }, '/element'],
    [{ element: 'information.001' }, '/element'],
    [{ element, object: 'subject.id' }, '/object'],
    [{ element, when: { 'context.time': 'now' } }, '/when/context.time'],
    [{ element, when: { 'action.properties.a/b': { deep: true } } }, '/when/action.properties.a~1b'],
    [{ element, capture: { layout: 'layout.001', subject: 'ann' } }, '/capture/subject'],
    [{ element, capture: {} }, '/capture/layout'],
  ];
  const response = await put([{ element }, ...wrong.map(([mapping]) => mapping)]);
  expect(response.status).toBe(422);
  const { errors } = (await response.json()) as { errors: { pointer: string }[] };
  expect(errors.map(({ pointer }) => pointer)).toEqual(
    wrong.map(([, pointer], place) => `/mappings/${place + 1}${pointer}`),
  );
});

it('another process decides by new mappings within two seconds', async () => {
  const pool = createPool({
    url: instance.databaseUrl,
    schema: 'transactions',
    log: createLogger({ level: 'silent' }),
  });
  onTestFinished(() => pool.end());
  const other = createAccessMappings(createDatabase({ pool }));
  await put([]);
  await vi.waitFor(async () => expect(await other.known()).toEqual([]), 2000);
  await put([{ purpose: 'CONSENT_MARKETING' }]);
  await vi.waitFor(async () => expect(await other.known()).toEqual([{ purpose: 'CONSENT_MARKETING' }]), 2000);
});
