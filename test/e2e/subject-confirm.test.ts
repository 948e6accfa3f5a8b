import { afterAll, describe, expect, it } from 'vitest';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { codeIn, startMailServer } from '../support/network/mail-server.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';
import { auditPage, auditPlainPage } from '../support/pages/audit-page.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const [mails, gateway] = await Promise.all([startMailServer(), startSmsGateway()]);
afterAll(() => Promise.all([mails.close(), gateway.close()]));
const session = subjectSession({
  CODE_RESEND_AFTER: 'PT10M',
  MAIL_URL: mails.url,
  SMS_URL: `${gateway.origin}/send`,
});
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
/** Other digits, in the same groups. */
const otherThan = (code: string) => code.replaceAll(/\d/g, (digit) => String(9 - Number(digit)));
const wrongCode = async () => otherThan(await shownCode());
const alert = () => session.page.getByRole('alert');

/** How a code is sent, read, and named on pages. */
const ways = [
  {
    confirmation: 'EMAIL_CODE',
    by: 'email',
    destination: 'a…@example.org',
    receive: async ({ emailAddress }: Contact) => codeIn(await mails.waitFor(emailAddress)),
  },
  {
    confirmation: 'SMS_CODE',
    by: 'SMS',
    destination: '…1234',
    receive: async ({ phoneNumber }: Contact) =>
      /#(\d{6})$/.exec((await gateway.waitFor(phoneNumber)).fields.text ?? '')?.[1] ?? 'no code',
  },
];
interface Contact {
  emailAddress: string;
  phoneNumber: string;
}
const ann: Contact = { emailAddress: 'ann@example.org', phoneNumber: '+33639981234' };
const amy: Contact = { emailAddress: 'amy@example.org', phoneNumber: '+33639991234' };

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

  it.each(ways)('of $confirmation is sent, told to be wrong, and confirms the answers', async (way) => {
    const subjectInfos = javaScriptEnabled ? ann : amy;
    await submitForm(javaScriptEnabled, { confirmation: way.confirmation, subjectInfos });
    await session.page
      .getByText(`A six-digit code is being sent by ${way.by} to ${way.destination}.`)
      .waitFor();
    const code = await way.receive(subjectInfos);
    expect(await session.page.content()).not.toContain(code);
    await field().fill(otherThan(code));
    expect(await statusAfter('Confirm')).toBe(422);
    expect(await alert().textContent()).toContain('This code is not correct');
    await field().fill(`${code.slice(0, 3)} ${code.slice(3)}`);
    await press('Confirm');
    await heading('Your answers are saved');
    await session.page.getByRole('link', { name: 'See the receipt' }).click();
    await session.page.getByText(`A code sent by ${way.by} to ${way.destination}, entered on`).waitFor();
  });

  it('is asked for by a page without a fault that axe finds, before and after a wrong code', async () => {
    const audit = javaScriptEnabled ? auditPage : auditPlainPage;
    await submitForm(javaScriptEnabled);
    expect(await audit(session.page)).toEqual([]);
    await field().fill(await wrongCode());
    expect(await statusAfter('Confirm')).toBe(422);
    expect(await audit(session.page)).toEqual([]);
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

it('a page that confirms is not stored by browsers and proxies', async () => {
  await submitForm(false);
  const reply = await session.page.reload();
  expect(reply?.headers()['cache-control']).toBe('no-store');
});
