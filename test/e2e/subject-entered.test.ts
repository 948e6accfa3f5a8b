import { describe, expect, it } from 'vitest';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction, expire, recordsOf } from '../support/instances/live-transactions.ts';
import { subjectSession } from '../support/pages/subject-session.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const session = subjectSession();
const { question, button, press, heading, statusAfter } = session;

const letter = 'The programme letter';
const study = 'A study of our audience';
const frequency = 'How often would you like to hear from us?';
const interests = 'What do you like to see?';
const wishes = 'Is there something that would make your evening better?';
const layout = (elements: string[], more = {}) => ({
  layoutData: { type: 'layout', elements, cancelVisible: true, ...more },
  cancellable: true,
});
const all = ['processing.001', 'processing.002', 'preference.001', 'preference.002', 'preference.003'];

describe('a link of the summary of faults', () => {
  it.each([
    { name: 'on a phone', width: 360, height: 740 },
    { name: 'on a desktop', width: 1280, height: 720 },
  ])(
    'brings the question into view $name, with its title, its error and a ring',
    async ({ width, height }) => {
      const { url } = await createTransaction(session.operator, layout(all));
      await session.open(url, { viewport: { width, height } });
      await press('Send my choices');
      for (const name of [letter, study]) {
        await session.page.getByRole('link', { name }).click();
        const shown = question(name);
        await expect.poll(() => shown.locator(':focus').count()).toBe(1);
        expect(await shown.evaluate(isOnTop)).toBe(true);
        expect(await shown.evaluate(ring)).toMatch(/^solid [1-9]/);
      }
    },
  );
});

describe('cancelling', () => {
  const opened = async (elements = ['processing.001', 'preference.003'], options = {}) => {
    const { url } = await createTransaction(session.operator, layout(elements));
    await session.open(url, options);
  };
  const confirmation = () => session.page.getByRole('alertdialog', { name: 'Do you want to cancel?' });

  it('asks once when something was entered, and keeps it when the person goes on', async () => {
    await opened();
    await question(wishes).getByRole('textbox').fill('A seat at the aisle');
    await press('Cancel');
    await confirmation().waitFor();
    await press('Go on answering');
    expect(await confirmation().isVisible()).toBe(false);
    expect(await button('Cancel').evaluate((element) => element.matches(':focus'))).toBe(true);
    expect(await question(wishes).getByRole('textbox').inputValue()).toBe('A seat at the aisle');
    await press('Cancel');
    await press('Cancel without sending');
    await heading('Cancelled');
  });

  it('asks by keyboard, too', async () => {
    await opened();
    await question(letter).getByLabel('Refuse').check();
    await button('Cancel').focus();
    await session.page.keyboard.press('Enter');
    await confirmation().waitFor();
    expect(await button('Go on answering').evaluate((element) => element.matches(':focus'))).toBe(true);
    await session.page.keyboard.press('Escape');
    expect(await confirmation().isVisible()).toBe(false);
    await session.page.keyboard.press('Enter');
    await session.page.keyboard.press('Tab');
    await session.page.keyboard.press('Enter');
    await heading('Cancelled');
  });

  it('does not ask when nothing was entered', async () => {
    await opened();
    await press('Cancel');
    await heading('Cancelled');
  });

  it('asks when answers stand in the form that were refused', async () => {
    await opened(['processing.001', 'processing.002']);
    await question(letter).getByLabel('Accept').check();
    await press('Send my choices');
    await question('One answer needs your attention').waitFor();
    await press('Cancel');
    await confirmation().waitFor();
  });

  it('works without JavaScript, where nothing is asked', async () => {
    await opened(undefined, { javaScriptEnabled: false });
    await question(letter).getByLabel('Refuse').check();
    await press('Cancel');
    await heading('Cancelled');
  });
});

describe('answers that come too late', () => {
  it('are filled in when the person starts again, without JavaScript and without being stored', async () => {
    const transaction = await createTransaction(session.operator, layout(all));
    await session.open(transaction.url, { javaScriptEnabled: false });
    await question(letter).getByLabel('Refuse').check();
    await question(study).getByLabel('Accept').check();
    await question(frequency).getByLabel('Once a month').check();
    await question(interests).getByLabel('Dance').check();
    await question(interests).getByLabel('Concerts').check();
    await question(wishes).getByRole('textbox').fill('A seat at the <aisle>\n& a "programme"');
    await expire(session.instance, transaction);
    expect(await statusAfter('Send my choices')).toBe(410);
    await session.page.getByText('what you entered will be filled in for you').waitFor();
    expect(await statusAfter('Start again')).toBe(200);
    await question('What you entered is still here').waitFor();
    expect(await question(letter).getByLabel('Refuse').isChecked()).toBe(true);
    expect(await question(study).getByLabel('Accept').isChecked()).toBe(true);
    expect(await question(frequency).getByLabel('Once a month').isChecked()).toBe(true);
    expect(await question(interests).locator(':checked').count()).toBe(2);
    expect(await question(wishes).getByRole('textbox').inputValue()).toBe(
      'A seat at the <aisle>\n& a "programme"',
    );
    expect(await recordsOf(session.operator, transaction.subject)).toEqual({});
    await press('Send my choices');
    await heading('Your answers are saved');
    const records = await recordsOf(session.operator, transaction.subject);
    expect(records['preference.002']?.[0]?.value).toBe('Dance,Concerts');
    expect(records['processing.001']?.[0]?.value).toBe('refused');
  });

  it('are asked anew where a question has changed since', async () => {
    const content = (title: string) => ({
      en: { title, data: 'Your name', usage: 'Letters', retention: { label: 'a year' } },
    });
    const changing = await makeLiveModel(session.admin, 'processing', content('A walk behind the stage'));
    const transaction = await createTransaction(session.operator, layout(['processing.001', changing.key]));
    await session.open(transaction.url);
    await question(letter).getByLabel('Accept').check();
    await question('A walk behind the stage').getByLabel('Accept').check();
    await expire(session.instance, transaction);
    await activateContent(session.admin, changing, content('A walk behind the stage, filmed'), 'MAJOR');
    expect(await statusAfter('Send my choices')).toBe(410);
    await press('Start again');
    const changed = question('A walk behind the stage, filmed');
    await changed.getByText('New or changed').waitFor();
    expect(await changed.locator('input:checked').count()).toBe(0);
    expect(await question(letter).getByLabel('Accept').isChecked()).toBe(true);
  });

  it('are asked anew where the information has changed since', async () => {
    const info = await makeLiveModel(session.admin, 'information', { en: sampleContent.information });
    const transaction = await createTransaction(
      session.operator,
      layout(['processing.001', 'processing.002'], { info: info.key }),
    );
    await session.open(transaction.url);
    await question(letter).getByLabel('Accept').check();
    await expire(session.instance, transaction);
    await activateContent(session.admin, info, { en: sampleContent.information }, 'MAJOR');
    expect(await statusAfter('Send my choices')).toBe(410);
    await press('Start again');
    for (const name of [letter, study]) {
      await question(name).getByText('New or changed').waitFor();
      expect(await question(name).locator('input:checked').count()).toBe(0);
    }
  });

  it('carry nothing along that the form did not ask', async () => {
    const transaction = await createTransaction(
      session.operator,
      layout(['processing.001', 'preference.001']),
    );
    await expire(session.instance, transaction);
    const post = (path: string, fields: [string, string][]) =>
      session.instance.fetch(`/consents/${transaction.id}/${path}?t=${transaction.token}`, {
        method: 'POST',
        headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(fields).toString(),
      });
    const wrong: [string, string][] = [
      ['accord-shown', 'element/processing/processing.001/1.0'],
      ['element/processing/processing.001/1.0', '"><script>alert(1)</script>'],
      ['element/processing/processing.003/1.0', 'accepted'],
      ['element/preference/preference.001/1.0', 'Never'],
      ['__proto__', 'polluted'],
      ['name', 'smuggled'],
    ];
    const late = await post('submit', wrong);
    expect(late.status).toBe(410);
    const page = await late.text();
    for (const absent of ['<script>alert', 'processing.003', 'polluted', 'smuggled'])
      expect(page).not.toContain(absent);
    const form = await post('child', wrong);
    expect(form.status).toBe(200);
    const filled = await form.text();
    for (const absent of [' checked', 'alert(1)', 'processing.003', 'polluted', 'smuggled', 'Never'])
      expect(filled).not.toContain(absent);
  });
});

describe('an option that is preset', () => {
  const content = {
    en: {
      label: 'A seat in which row?',
      options: ['At the front', 'At the back'],
      valueType: 'RADIO_BUTTONS',
      includeDefault: true,
      defaultValues: ['At the back'],
    },
  };

  it('says who suggests it, until it is the answer of the subject', async () => {
    const seat = await makeLiveModel(session.admin, 'preference', content);
    const { url, subject } = await createTransaction(session.operator, layout([seat.key]));
    await session.open(url);
    const row = question('A seat in which row?');
    const tag = row.locator('label', { hasText: 'At the back' }).getByText('Suggested by Riverside Theatre');
    await tag.waitFor();
    expect(await row.getByText('Suggested by').count()).toBe(1);
    await press('Send my choices');
    await heading('Your answers are saved');
    const again = await createTransaction(session.operator, {
      ...layout([seat.key]),
      subject,
      validity: 'P1Y',
    });
    await session.page.goto(again.url);
    await row.getByText(/^Your answer of/).waitFor();
    expect(await row.getByText('Suggested by').count()).toBe(0);
  });
});

/** Runs in the page: title and error of a question are in the window, and the question begins at its top. */
function isOnTop(fieldset: object): boolean {
  const element = fieldset as {
    querySelector(selector: string): { getBoundingClientRect(): { top: number; bottom: number } };
    ownerDocument: { defaultView: { innerHeight: number } };
  };
  const { innerHeight } = element.ownerDocument.defaultView;
  return ['h3', '.fault'].every((part) => {
    const { top, bottom } = element.querySelector(part).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

/** Runs in the page. */
function ring(fieldset: object): string {
  const { ownerDocument } = fieldset as {
    ownerDocument: { defaultView: { getComputedStyle(node: object): Record<string, string> } };
  };
  const { outlineStyle, outlineWidth } = ownerDocument.defaultView.getComputedStyle(fieldset);
  return `${outlineStyle} ${outlineWidth}`;
}
