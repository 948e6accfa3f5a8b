import { describe, expect, it } from 'vitest';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { createTransaction, expire, recordsOf } from '../support/instances/live-transactions.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
const { question, button, press, heading, answers, statusAfter } = session;
/** In a browser without JavaScript, where everything has to work too. */
const open = (url: string) => session.open(url, { javaScriptEnabled: false });

const letter = 'The programme letter';
const study = 'A study of our audience';
const frequency = 'How often would you like to hear from us?';
const inline = (more: object) => ({
  layoutData: {
    type: 'layout',
    elements: ['processing.001', 'processing.002', 'preference.001'],
    ...more,
  },
});

describe('an end without answers', () => {
  it('is told when the subject cancels, and can be begun again', async () => {
    const { id, url } = await createTransaction(session.operator, {
      cancellable: true,
      ...inline({ cancelVisible: true }),
    });
    await open(url);
    await question(letter).getByLabel('Accept').check();
    expect(await statusAfter('Cancel')).toBe(303);
    await heading('Cancelled');
    expect(await (await session.operator.get(`/consents/${id}`)).json()).toMatchObject({
      state: 'CANCELLED',
    });
    await press('Start again');
    await heading('Your data, your choice');
    expect(session.page.url()).not.toContain(id);
  });

  it('is told when everything has been answered before, with those answers and their date', async () => {
    const layout = inline({ existingElementsVisible: false });
    const { url, subject } = await createTransaction(session.operator, layout);
    await open(url);
    await question(letter).getByLabel('Accept').check();
    await question(study).getByLabel('Refuse').check();
    await question(frequency).getByLabel('Once a month').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    const { url: again } = await createTransaction(session.operator, {
      ...layout,
      subject,
      object: undefined,
      validity: 'P1Y',
    });
    await session.page.goto(again);
    await heading('You have already answered');
    const on = expect.stringMatching(/^Answered on \d{1,2}\s[A-Z][a-z]+ \d{4}$/);
    expect(await answers()).toEqual([
      [letter, 'Accepted', on],
      [study, 'Refused', on],
      [frequency, 'Once a month', on],
    ]);
    await press('Continue');
    await session.page.getByText('You gave no new answer.').waitFor();
    expect((await recordsOf(session.operator, subject))['processing.001']).toHaveLength(1);
  });
});

describe('a link that is too late', () => {
  it('says so, stores nothing and offers to start again', async () => {
    const transaction = await createTransaction(session.operator);
    await open(transaction.url);
    await question(letter).getByLabel('Accept').check();
    await question(study).getByLabel('Accept').check();
    await question(frequency).getByLabel('Once a month').check();
    await expire(session.instance, transaction);
    expect(await statusAfter('Save my choices')).toBe(410);
    await heading('The time to answer is over');
    expect(await recordsOf(session.operator, transaction.subject)).toEqual({});
    await press('Start again');
    await heading('Your data, your choice');
    await session.page.goto(transaction.url);
    await heading('The time to answer is over');
    await press('Start again');
    await heading('Your data, your choice');
  });

  it('says whom to ask if the subject cannot start again', async () => {
    const transaction = await createTransaction(session.operator, { updatable: false });
    await open(transaction.url);
    await expire(session.instance, transaction);
    expect(await statusAfter('Save my choices')).toBe(410);
    await heading('The time to answer is over');
    expect(await session.page.getByText(/If you have a question, ask/).count()).toBe(1);
    expect(await button('Start again').count()).toBe(0);
    expect(await session.page.goto(transaction.url)).toBeTruthy();
    expect(await session.page.getByText(/If you have a question, ask/).count()).toBe(1);
  });
});

describe('questions that change while they are read', () => {
  const content = (title: string) => ({
    en: { title, data: 'Your name', usage: 'Letters', retention: { label: 'a year' } },
  });
  it('are shown again and marked, and the other answers are kept', async () => {
    const changing = await makeLiveModel(session.admin, 'processing', content('A walk behind the stage'));
    const { url, subject } = await createTransaction(
      session.operator,
      inline({ elements: ['processing.001', changing.key] }),
    );
    await open(url);
    await question(letter).getByLabel('Refuse').check();
    await question('A walk behind the stage').getByLabel('Accept').check();
    await activateContent(session.admin, changing, content('A walk behind the stage, filmed'), 'MAJOR');
    expect(await statusAfter('Send my choices')).toBe(409);
    await question('These questions have changed').waitFor();
    expect(await session.page.locator('.notice-changed:focus').count()).toBe(1);
    const marked = question('A walk behind the stage, filmed');
    expect(await marked.getByText('New or changed').count()).toBe(1);
    expect(await marked.locator('input:checked').count()).toBe(0);
    expect(await session.page.getByText('New or changed').count()).toBe(1);
    expect(await question(letter).getByLabel('Refuse').isChecked()).toBe(true);
    expect(await recordsOf(session.operator, subject)).toEqual({});
    await marked.getByLabel('Accept').check();
    await press('Send my choices');
    await heading('Your answers are saved');
  });

  it('are no longer asked once they have been withdrawn', async () => {
    const gone = await makeLiveModel(session.admin, 'processing', content('An old matter'));
    const { url } = await createTransaction(session.operator, inline({ elements: [gone.key] }));
    await withdrawModel(session.admin, gone);
    expect(await open(url)).toBe(409);
    await heading('These questions are no longer asked');
  });
});

describe('a link that leads nowhere', () => {
  it.each([
    ['is unknown', '/consents/2222222222222222222222', 401, 'This link is not valid, or no longer valid'],
    [
      'is garbled',
      '/consents/2222222222222222222222?t=garbled',
      401,
      'This link is not valid, or no longer valid',
    ],
    ['is of another site part', '/nowhere', 404, 'There is nothing here'],
  ])('is explained when it %s', async (_, path, status, title) => {
    expect(await open(`${session.instance.url}${path}`)).toBe(status);
    await heading(title);
  });

  it('is not found with the token of another transaction', async () => {
    const [one, other] = await Promise.all([
      createTransaction(session.operator),
      createTransaction(session.operator),
    ]);
    expect(await open(`${session.instance.url}/consents/${one.id}?t=${other.token}`)).toBe(404);
    await heading('There is nothing here');
  });

  it('leads to the result when the form was answered in another window', async () => {
    const { id, token, url } = await createTransaction(
      session.operator,
      inline({ elements: ['processing.001'] }),
    );
    await open(url);
    await question(letter).getByLabel('Accept').check();
    const body = { 'element/processing/processing.001/1.0': ['refused'] };
    expect((await session.operator.send('POST', `/consents/${id}/submit?t=${token}`, body)).status).toBe(200);
    expect(await statusAfter('Send my choices')).toBe(409);
    await heading('This is not possible now');
    await session.page.getByRole('link', { name: 'See where it stands' }).click();
    await heading('Your answers are saved');
    expect(await answers()).toEqual([[letter, 'Refused']]);
  });
});
