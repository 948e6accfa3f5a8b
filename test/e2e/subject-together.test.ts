import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LeadingInstance, questionsOf, startLeading } from '../support/instances/leader-instance.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

let here: LeadingInstance;
const browser = useBrowser();
beforeAll(async () => {
  here = await startLeading();
}, 90_000);
afterAll(async () => {
  await here?.stop();
});

it('a subject who answers several organisations at once is told by itself when all of them have their part', async () => {
  const layoutData = { elements: questionsOf(here), acceptAllVisible: true };
  const made = await createTransaction(here.operator, { peerCommit: 'together', layoutData, language: 'en' });
  const page = await browser.newPage();
  await page.goto(made.url);
  await page.getByRole('heading', { name: 'Questions from Northern Lab' }).waitFor();
  await page.getByRole('button', { name: 'Accept all' }).click();
  await page.getByRole('heading', { name: 'Your answers are on their way' }).waitFor();
  expect(await page.getByText('On its way to Northern Lab.').count()).toBe(1);
  for (const partner of [here.lab, here.clinic]) await here.say(made, partner, { verdict: 'held' });
  await page.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Your answers to Lakeside Clinic' }).count()).toBe(1);
}, 60_000);

it('the final page shows by itself that a partner has its part, without loading anew, and says so politely', async () => {
  const made = await createTransaction(here.operator, {
    layoutData: { elements: questionsOf(here), acceptAllVisible: true },
    language: 'en',
  });
  const page = await browser.newPage();
  await page.goto(made.url);
  await page.getByRole('button', { name: 'Refuse all' }).click();
  await page.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
  expect(await page.getByRole('link', { name: 'See how it stands now' }).count()).toBe(1);
  await page.evaluate('document.body.dataset.same = "page"');
  await here.say(made, here.lab, { verdict: 'done' });
  const told = page
    .locator('[aria-live=polite]')
    .getByText('Northern Lab has received and saved your answers.');
  await told.waitFor();
  expect(await page.getByText('On its way to Lakeside Clinic.').count()).toBe(1);
  await here.say(made, here.clinic, { verdict: 'refused', reason: 'invalid' });
  await page.getByText('Lakeside Clinic did not save them').waitFor();
  // All have answered: there is nothing to look for any more.
  await page.getByRole('link', { name: 'See how it stands now' }).waitFor({ state: 'detached' });
  expect(await page.evaluate('document.body.dataset.same')).toBe('page');
}, 60_000);

it('without a script the final page has a link to look again, and a child says that a partner keeps its answer', async () => {
  const layoutData = { elements: questionsOf(here), acceptAllVisible: true };
  const made = await createTransaction(here.operator, { layoutData, language: 'en' });
  const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await page.goto(made.url);
  await page.getByText('does not keep them and cannot read them afterwards.').first().waitFor();
  await page.getByRole('button', { name: 'Accept all' }).click();
  await page.getByText('On its way to Northern Lab.').waitFor();
  expect(await page.getByRole('button', { name: 'Print' }).count()).toBe(0);
  await here.say(made, here.lab, { verdict: 'done' });
  await page.getByRole('link', { name: 'See how it stands now' }).click();
  await page.getByText('Northern Lab has received and saved your answers.').waitFor();
  await page.getByRole('button', { name: 'Change or withdraw my answers' }).click();
  const note =
    'keeps your earlier answer, if you gave one. Leave this empty to leave it as it stands there; a consent that was withdrawn stays withdrawn.';
  await page.getByText(`Northern Lab ${note}`).first().waitFor();
  // Only our own question is answered: the partners are asked to keep theirs.
  await page.getByRole('button', { name: 'Send my choices' }).click();
  await page.getByRole('heading', { name: 'Your answers are saved' }).waitFor();
  expect(await page.getByText('Your answers to Northern Lab').count()).toBe(0);
}, 60_000);
