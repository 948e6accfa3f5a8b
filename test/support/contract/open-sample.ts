import type { Page } from 'playwright-core';
import type { SampleLanguage } from '../samples/sample-content.ts';

/**
 * Opens a sample page in the state of its name: with a callback it counts down as after a submit, and
 * `form-cancel` shows the question whether to cancel.
 */
export async function openSample(
  page: Page,
  origin: string,
  name: string,
  language: SampleLanguage,
): Promise<void> {
  await page.goto(`${origin}/sample/${name}/${language}${name.endsWith('-callback') ? '#sent' : ''}`);
  if (name !== 'form-cancel') return;
  await page.locator('input[type=radio]').first().check();
  await page.locator('button[form=cancel]').first().click();
  await page.locator('#cancel-question').waitFor();
}
