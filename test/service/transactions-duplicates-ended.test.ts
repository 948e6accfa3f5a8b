import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { complete, letter, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { expire, recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

/** A context that nobody has sent before, and how it is sent. */
const newContext = (more: object = {}) => {
  const context = { subject: randomUUID(), layout: 'layout.001', ...more };
  return async () => {
    const answer = await operator.send('POST', '/consents', context);
    return { ...(await transactionIn(answer)), status: answer.status };
  };
};
const parallel = <Result>(count: number, act: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, act));

describe('an equal context makes a new transaction', () => {
  it('if the first one is past its deadline, before and after the sweeper', async () => {
    const create = newContext();
    const first = await create();
    await expire(instance, first);
    const second = await create();
    expect(second.status).toBe(201);
    expect(second.id).not.toBe(first.id);
    expect(await create()).toMatchObject({ status: 200, id: second.id });
  });

  it('if the first one is cancelled', async () => {
    const create = newContext();
    const first = await create();
    await operator.send('POST', `/consents/${first.id}/cancel`);
    expect((await create()).status).toBe(201);
  });

  it('exactly one for concurrent requests after the end of the first', async () => {
    const create = newContext();
    const first = await create();
    await operator.send('POST', `/consents/${first.id}/cancel`);
    const answers = await parallel(40, create);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers[0]?.id).not.toBe(first.id);
  });

  it('if an element or the information has a new MAJOR, but not for a MINOR', async () => {
    const content = { en: sampleContent.processing };
    const element = await makeLiveModel(admin, 'processing', content);
    const information = await makeLiveModel(admin, 'information', { en: sampleContent.information });
    const create = newContext({
      layout: '',
      layoutData: { info: information.key, elements: [element.key] },
    });
    const first = await create();
    await activateContent(admin, element, content, 'MINOR');
    expect(await create()).toMatchObject({ status: 200, id: first.id });
    await activateContent(admin, element, content, 'MAJOR');
    const second = await create();
    expect(second.status).toBe(201);
    await activateContent(admin, information, { en: sampleContent.information }, 'MAJOR');
    const third = await create();
    expect(third.status).toBe(201);
    expect(new Set([first.id, second.id, third.id]).size).toBe(3);
  });

  it('if one of the answers was replaced', async () => {
    const create = newContext();
    const first = await create();
    await subjectOf(instance, first).submit();
    await recordAnswers(operator, first.subject, { [letter]: ['refused'] });
    expect((await create()).status).toBe(201);
  });

  it('if the answers have expired', async () => {
    const create = newContext({ validity: 'P1M' });
    const first = await create();
    await subjectOf(instance, first).submit();
    expect(await create()).toMatchObject({ status: 200, id: first.id });
    await letTimePass(instance, '5 weeks');
    expect((await create()).status).toBe(201);
    await letTimePass(instance, '0');
  });

  it('if the first one was committed without an answer', async () => {
    const layoutData = { elements: ['processing.001'], existingElementsVisible: false };
    const create = newContext({ layout: '', layoutData });
    const first = await create();
    await recordAnswers(operator, first.subject, { [letter]: ['accepted'] });
    expect((await subjectOf(instance, first).submit({})).status).toBe(200);
    expect((await create()).status).toBe(201);
  });
});

describe('an equal context returns the committed transaction', () => {
  it('as long as all its answers are valid', async () => {
    const create = newContext();
    const first = await create();
    await subjectOf(instance, first).submit(complete);
    const again = await create();
    expect(again).toMatchObject({ status: 200, id: first.id, state: 'COMMITTED' });
    expect(again).toMatchObject({ receipt: `${instance.url}/receipts/${first.id}` });
    expect(again).not.toHaveProperty('task');
  });

  it('or the child that replaced it', async () => {
    const create = newContext();
    const first = await create();
    await subjectOf(instance, first).submit(complete);
    const asked = await subjectOf(instance, first).post('/child');
    const child = (await asked.json()) as { id: string; token: string };
    expect(await create()).toMatchObject({ status: 200, id: first.id });
    await subjectOf(instance, child).submit({ ...complete, [letter]: ['refused'] });
    expect(await create()).toMatchObject({ status: 200, id: child.id, state: 'COMMITTED' });
  });
});
