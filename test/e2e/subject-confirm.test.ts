import { describe, expect, it } from 'vitest';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession({ CODE_RESEND_AFTER: 'PT10M' });
const { question, press, heading, statusAfter } = session;
const letter = 'The programme letter';

/** Answers a form whose answers await a code that the page shows. @returns the URL of the form. */
async function submitForm(javaScriptEnabled: boolean, context: object = {}): Promise<string> {
  const layoutData = { type: 'layout', elements: ['processing.001'] };
  const { url } = await createTransaction(session.operator, {
    layoutData,
    confirmation: 'FORM_CODE',
    updatable: true,
    ...context,
  });
  await session.open(url, { javaScriptEnabled });
  await question(letter).getByLabel('Accept').check();
  await press('Send my choices');
  await heading('Confirm your answers');
  return url;
}

const field = () => session.page.getByLabel('Code', { exact: true });
const shownCode = async () => (await session.page.locator('.code-shown').textContent())?.trim() ?? '';
/** Six digits that are not the code, in its groups. */
const wrongCode = async () => (await shownCode()).replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
const alert = () => session.page.getByRole('alert');

describe.each([true, false])('a code (JavaScript: %s)', (javaScriptEnabled) => {
  it('that is shown and entered confirms the answers, and the receipt says so', async () => {
    await submitForm(javaScriptEnabled);
    expect(session.page.url()).toMatch(/\/confirm\?t=/);
    await field().fill(await shownCode());
    await press('Confirm');
    await heading('Your answers are saved');
    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await session.page.getByText('A code shown on the page, entered on').waitFor();
  });

  it('that is wrong is told as an alert, with the attempts that are left', async () => {
    await submitForm(javaScriptEnabled);
    await field().fill('12 34');
    expect(await statusAfter('Confirm')).toBe(422);
    expect(await alert().textContent()).toContain('Enter all six digits.');
    await session.page.getByText('You have 5 attempts left.').waitFor();
    await field().fill(await wrongCode());
    expect(await statusAfter('Confirm')).toBe(422);
    expect(await alert().textContent()).toContain('This code is not correct');
    await session.page.getByText('You have 4 attempts left.').waitFor();
    await field().fill(await shownCode());
    await press('Confirm');
    await heading('Your answers are saved');
  });

  it('that is requested again too early stays, and the page says when to ask again', async () => {
    await submitForm(javaScriptEnabled);
    const code = await shownCode();
    expect(await statusAfter('Show another code')).toBe(429);
    expect(await alert().textContent()).toMatch(/You can request another code in 10 minutes/);
    expect(await shownCode()).toBe(code);
  });
});

it('the form leads back to the page of the code until the answers are confirmed or cancelled', async () => {
  const url = await submitForm(false, { cancellable: true });
  await session.page.goto(url);
  await heading('Confirm your answers');
  await press('Cancel');
  await heading('Cancelled');
});

it('a page that confirms has no fault that axe finds, before and after a wrong code', async () => {
  await submitForm(true);
  expect(await auditPage(session.page)).toEqual([]);
  await field().fill(await wrongCode());
  expect(await statusAfter('Confirm')).toBe(422);
  expect(await auditPage(session.page)).toEqual([]);
});

it('a page that confirms is not stored by browsers and proxies', async () => {
  await submitForm(false);
  const reply = await session.page.reload();
  expect(reply?.headers()['cache-control']).toBe('no-store');
});
