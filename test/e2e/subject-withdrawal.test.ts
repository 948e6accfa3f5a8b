import { describe, expect, it } from 'vitest';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { subjectSession } from '../support/pages/subject-session.ts';

const session = subjectSession();
const { question, button, press, heading, answers } = session;

const letter = 'The programme letter';
const booking = 'Your booking';
const layoutData = { type: 'layout', elements: ['processing.001', 'processing.003'] };

describe('a form with something that cannot be refused', () => {
  it.each([
    ['Accept all', 'Accepted'],
    ['Refuse all', 'Refused'],
  ])(
    'is saved by "%s" without a script, and tells back what was shown without a choice',
    async (name, answer) => {
      const bulk = { ...layoutData, acceptAllVisible: true };
      const { url, subject } = await createTransaction(session.operator, { layoutData: bulk });
      await session.open(url, { javaScriptEnabled: false });
      const notice = session.page.getByRole('region', { name: booking });
      await notice
        .getByText('No choice is offered here, because it is needed for a contract with you.')
        .waitFor();
      expect(await notice.locator('input, button, select, textarea').count()).toBe(0);
      await press(name);
      await heading('Your answers are saved');
      expect(await answers()).toEqual([
        [letter, answer],
        [booking, 'Shown; no choice offered'],
      ]);
      expect((await recordsOf(session.operator, subject))['processing.003']).toMatchObject([
        { value: 'accepted' },
      ]);
    },
  );
});

describe('a form that hides what is answered', () => {
  it('lets answers be withdrawn from each of its ends, without a script', async () => {
    const hiding = { layoutData: { ...layoutData, existingElementsVisible: false } };
    const first = await createTransaction(session.operator, hiding);
    await session.open(first.url, { javaScriptEnabled: false });
    await question(letter).getByLabel('Accept').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    // From the final page: the child asks everything.
    await press('Change or withdraw my answers');
    expect(await question(letter).getByLabel('Accept').isChecked()).toBe(true);
    await question(letter).getByLabel('Refuse').check();
    await press('Send my choices');
    expect(await answers()).toContainEqual([letter, 'Refused']);
    // From "already answered", which a new transaction of the same form shows.
    const again = { ...hiding, subject: first.subject, attributes: { visit: '2' } };
    const { url } = await createTransaction(session.operator, again);
    await session.page.goto(url);
    await heading('You have already answered');
    expect(await button('Continue').count()).toBe(1);
    await session.page.getByRole('link', { name: 'Change or withdraw my answers' }).click();
    expect(await question(letter).getByLabel('Refuse').isChecked()).toBe(true);
    await question(letter).getByLabel('Accept').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    const records = (await recordsOf(session.operator, first.subject))['processing.001'];
    expect(records?.map(({ value, status }) => `${value} ${status}`)).toEqual([
      'accepted VALID',
      'refused OBSOLETE',
      'accepted OBSOLETE',
    ]);
  });
});

describe('the final page', () => {
  it('says to keep the receipt and until when its link works, with the receipt before all else, and prints it', async () => {
    const { url } = await createTransaction(session.operator, { layoutData });
    await session.open(url);
    await question(letter).getByLabel('Refuse').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    await session.page
      .getByText(/^Keep your receipt: its link works until \d{1,2}\s[A-Z][a-z]+ \d{4}\.$/)
      .waitFor();
    const doors = await session.page
      .locator('main')
      .locator('a, button')
      .evaluateAll((all) => all.map((each) => (each as { textContent: string | null }).textContent));
    expect(doors.slice(0, 3)).toEqual(['Receipt as PDF', 'See the receipt', 'Print']);
    await session.page.evaluate('window.print = () => { document.body.dataset.printed = "yes" }');
    await press('Print');
    expect(await session.page.evaluate('document.body.dataset.printed')).toBe('yes');
  });
});

describe.each([true, false])('a consent, with javaScriptEnabled %s', (javaScriptEnabled) => {
  it.each(['final page', 'receipt'])('is withdrawn by one press on its %s', async (from) => {
    const { url, subject } = await createTransaction(session.operator, { layoutData });
    await session.open(url, { javaScriptEnabled });
    await question(letter).getByLabel('Accept').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    if (from === 'receipt') {
      await session.page.getByRole('link', { name: 'See the receipt' }).click();
      await session.page.waitForURL(/\/receipts\//);
    }
    await session.page.getByRole('button', { name: /^Withdraw/ }).click();
    await heading('Your consent was withdrawn');
    const newest = async () => (await recordsOf(session.operator, subject))['processing.001']?.[0]?.value;
    expect(await newest()).toBe('refused');
    const withdrawal = session.page.url();
    await press('Answer again');
    await question(letter).getByLabel('Accept').check();
    await press('Send my choices');
    await heading('Your answers are saved');
    expect(await newest()).toBe('accepted');
    await session.page.goto(withdrawal);
    await session.page.getByText('You have consented again since then').waitFor();
  });
});
