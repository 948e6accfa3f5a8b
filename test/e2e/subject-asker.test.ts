import { describe, expect, it } from 'vitest';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, expire } from '../support/instances/live-transactions.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
const { heading, press } = session;
const masthead = () => session.page.locator('.masthead').innerText();

describe('the demonstration', () => {
  it('is called Riverside Theatre, on its form and on its receipt', async () => {
    const { url } = await createTransaction(session.operator, {
      layoutData: { type: 'layout', elements: ['processing.001'] },
    });
    await session.open(url);
    expect(await masthead()).toBe('Riverside Theatre');
    await session.page.getByLabel('Refuse').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    expect(await masthead()).toBe('Riverside Theatre');
    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await heading('Consent receipt');
    await session.page.getByText('What Riverside Theatre asked').waitFor();
  });
});

describe('a form in which another organisation asks', () => {
  const asked = 'Harbour Museum via Riverside Theatre';

  it('names it first, on every page until the receipt', async () => {
    const info = await makeLiveModel(session.admin, 'information', {
      en: { title: 'What the museum asks', dataController: { company: 'Harbour Museum' } },
    });
    const context = {
      layoutData: { type: 'layout', info: info.key, elements: ['processing.001'] },
      cancellable: true,
    };
    const { url } = await createTransaction(session.operator, context);
    await session.open(url);
    expect(await masthead()).toBe(asked);
    await session.page.getByLabel('Accept').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    expect(await masthead()).toBe(asked);
    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await heading('Consent receipt');
    expect(await masthead()).toBe(asked);
    await session.page.getByText('What Harbour Museum asked').waitFor();
    const facts = (await session.page.locator('main .intro .facts').innerText()).split('\n');
    expect(facts.indexOf('Harbour Museum')).toBe(facts.indexOf('Asked by') + 1);
    expect(facts.indexOf('Asked by')).toBeLessThan(facts.indexOf('Collected by'));

    const late = await createTransaction(session.operator, context);
    await expire(session.instance, late);
    await session.page.goto(late.url);
    await heading('The time to answer is over');
    expect(await masthead()).toBe(asked);
  });
});
