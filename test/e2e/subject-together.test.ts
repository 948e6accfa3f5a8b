import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { type LeadingInstance, questionsOf, startLeading } from '../support/leader-instance.ts';
import { createTransaction } from '../support/live-transactions.ts';

let here: LeadingInstance;
let browser: Browser;
beforeAll(async () => {
  [here, browser] = await Promise.all([startLeading(), launchChromium()]);
}, 90_000);
afterAll(async () => {
  await browser?.close();
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
