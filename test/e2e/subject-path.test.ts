import { describe, expect, it } from 'vitest';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
const { question, press, heading, answers } = session;

const letter = 'The programme letter';
const study = 'A study of our audience';
const frequency = 'How often would you like to hear from us?';

async function answerAll(choice: 'Accept' | 'Refuse') {
  await question(letter).getByLabel(choice).check();
  await question(study).getByLabel(choice).check();
  await question(frequency).getByLabel('Once a month').check();
}

const browsers = [
  { how: 'with JavaScript', options: { javaScriptEnabled: true } },
  { how: 'without JavaScript', options: { javaScriptEnabled: false } },
];

describe.each(browsers)('a subject $how', ({ options }) => {
  const open = (url: string) => session.open(url, options);

  it('is led from the link to the form, in which nothing is chosen yet', async () => {
    const { id, url } = await createTransaction(session.operator);
    await open(url);
    expect(new URL(session.page.url()).pathname).toBe(`/consents/${id}/submit`);
    await heading('Your data, your choice');
    expect(await session.page.locator('input:checked:not([value=""])').count()).toBe(0);
    expect(await session.page.locator('html').getAttribute('lang')).toBe('en');
  });

  it('is told first what is missing, and keeps what was answered', async () => {
    const { url } = await createTransaction(session.operator);
    await open(url);
    await question(letter).getByLabel('Refuse').check();
    await press('Save my choices');
    const summary = session.page.getByRole('group', { name: 'One answer needs your attention' });
    await summary.waitFor();
    expect(await session.page.locator('.notice-fault:focus').count()).toBe(1);
    expect(await session.page.title()).toMatch(/^Error: /);
    expect(await session.page.locator('main > :first-child').getAttribute('class')).toContain('notice-fault');
    expect(await question(letter).getByLabel('Refuse').isChecked()).toBe(true);
    expect(await session.page.locator('[aria-invalid=true]').count()).toBe(2);
    expect(await question(letter).locator('[aria-invalid]').count()).toBe(0);
    await summary.getByRole('link', { name: study }).click();
    expect(await question(study).locator(':focus').getAttribute('value')).toBe('accepted');
    expect(await question(study).locator(':focus').evaluate(description)).toContain('Choose an answer.');
  });

  it('answers, reads the receipt, changes an answer and withdraws a consent', async () => {
    const { id, subject, url } = await createTransaction(session.operator);
    await open(url);
    await answerAll('Accept');
    await press('Save my choices');
    await heading('Your answers are saved');
    expect(new URL(session.page.url()).pathname).toBe(`/consents/${id}`);
    expect(await answers()).toEqual([
      [letter, 'Accepted'],
      [study, 'Accepted'],
      [frequency, 'Once a month'],
    ]);

    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await heading('Consent receipt');
    expect(await session.page.locator('main').innerText()).toContain(subject);
    await session.page.getByRole('link', { name: 'Back' }).click();
    await heading('Your answers are saved');

    await press('Change or withdraw my answers');
    await heading('Your data, your choice');
    expect(new URL(session.page.url()).pathname).not.toContain(id);
    expect(await session.page.getByText(/^Your answer of \d{1,2}\s[A-Z][a-z]+ \d{4}$/).count()).toBe(3);
    expect(await question(letter).getByLabel('Accept').isChecked()).toBe(true);
    expect(await question(frequency).getByLabel('Once a month').isChecked()).toBe(true);

    await question(letter).getByLabel('Refuse').check();
    await press('Save my choices');
    await heading('Your answers are saved');
    expect(await answers()).toEqual([
      [letter, 'Refused'],
      [study, 'Accepted'],
      [frequency, 'Once a month'],
    ]);
    const records = await recordsOf(session.operator, subject);
    expect(records['processing.001']?.map(({ value, status }) => [value, status])).toEqual([
      ['refused', 'VALID'],
      ['accepted', 'OBSOLETE'],
    ]);
  });

  it('withdraws from the receipt in one step, too', async () => {
    const { url, subject } = await createTransaction(session.operator);
    await open(url);
    await answerAll('Accept');
    await press('Save my choices');
    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await press('Change or withdraw my answers');
    await answerAll('Refuse');
    await press('Save my choices');
    await heading('Your answers are saved');
    const records = await recordsOf(session.operator, subject);
    expect(records['processing.002']?.[0]).toMatchObject({ value: 'refused', status: 'VALID' });
  });

  it('changes their mind with nothing but the code on a printed receipt', async () => {
    const { id, subject, token, url } = await createTransaction(session.operator);
    await open(url);
    await answerAll('Accept');
    await press('Save my choices');
    await heading('Your answers are saved');
    const receipt = await session.instance.fetch(`/receipts/${id}?t=${token}&format=json`);
    const { updateUrl } = (await receipt.json()) as { updateUrl: string };
    await open(updateUrl);
    await heading('Change your answers');
    await press('Change or withdraw my answers');
    await answerAll('Refuse');
    await press('Save my choices');
    await heading('Your answers are saved');
    expect((await recordsOf(session.operator, subject))['processing.001']?.[0]).toMatchObject({
      value: 'refused',
      status: 'VALID',
    });
  });

  it('may reload every page and go back without sending anything twice', async () => {
    const { url, subject } = await createTransaction(session.operator);
    await open(url);
    await answerAll('Accept');
    await session.page.reload();
    await heading('Your data, your choice');
    await answerAll('Refuse');
    await press('Save my choices');
    await heading('Your answers are saved');
    await session.page.reload();
    await heading('Your answers are saved');
    await session.page.goBack();
    await heading('Your answers are saved');
    expect((await recordsOf(session.operator, subject))['processing.001']).toHaveLength(1);
  });

  it('presses the button twice, and has answered once', async () => {
    const { url, subject } = await createTransaction(session.operator);
    await open(url);
    await answerAll('Accept');
    await session.page.getByRole('button', { name: 'Save my choices' }).dblclick();
    await heading('Your answers are saved');
    expect((await recordsOf(session.operator, subject))['processing.001']).toHaveLength(1);
  });
});

/** Text of what describes a field. */
function description(element: object): string {
  const { ownerDocument, attributes } = element as {
    ownerDocument: { getElementById(id: string): { textContent: string } };
    attributes: { getNamedItem(name: string): { value: string } };
  };
  const ids = attributes.getNamedItem('aria-describedby').value.split(' ');
  return ids.map((id) => ownerDocument.getElementById(id).textContent).join(' ');
}
