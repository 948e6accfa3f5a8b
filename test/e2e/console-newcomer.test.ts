import type { BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { enterConsole, pairWith } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const instance = useInstance();
const lab = useInstance({ INSTANCE_NAME: 'Northern Lab' });
const browser = useBrowser();
beforeAll(async () => {
  await pairWith(instance, lab);
});

/**
 * A person at the first page of the console, who works by keyboard if there is JavaScript, else by mouse.
 * Presses and loaded pages are counted.
 */
async function arrive(javaScriptEnabled: boolean) {
  const context: BrowserContext = await browser.newContext({ javaScriptEnabled, locale: 'en' });
  context.setDefaultTimeout(10_000);
  const page: Page = await context.newPage();
  await enterConsole(page, instance.url, 'admin');
  const counts = { presses: 0, loads: 0 };
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame() && !request.redirectedFrom())
      counts.loads += 1;
  });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true }).first();
  return {
    page,
    counts,
    /** Presses a link or a button, and waits for the page that it leads to. */
    async press(kind: 'button' | 'link', name: string) {
      counts.presses += 1;
      const target = kind === 'button' ? button(name).last() : link(name);
      if (javaScriptEnabled) await target.press('Enter');
      else await target.click();
      await page.waitForLoadState('domcontentloaded');
    },
    /** Ticks, or chooses an option. */
    async choose(label: string, option?: string) {
      counts.presses += 1;
      const field = page.getByLabel(label, { exact: true });
      if (javaScriptEnabled) {
        await field.focus();
        await page.keyboard.type(option ?? ' ');
      } else await (option === undefined ? field.check() : field.selectOption({ label: option }));
    },
    type: async (name: string, text: string) => page.locator(`[name="${name}"]`).fill(text),
    leave: () => context.close(),
  };
}

describe.each([
  ['with JavaScript, by keyboard', true],
  ['without JavaScript, by mouse', false],
])('a newcomer %s', (_how, javaScriptEnabled) => {
  it('makes an element in two languages, a form with it and one of a peer, and an address for it, in few steps', async ({
    annotate,
  }) => {
    const person = await arrive(javaScriptEnabled);
    const { page, press, type, choose, counts } = person;
    const begun = performance.now();
    await press('link', 'Elements');
    await press('link', 'New element');
    await type('name', `Letter ${javaScriptEnabled}`);
    await choose('French');
    await press('button', 'Create and write');
    await page.locator('[name="fr:title"]').waitFor();
    for (const [name, text] of Object.entries({
      'en:title': 'A letter',
      'en:data': 'Your address',
      'en:usage': 'We write to you.',
      'fr:title': 'Une lettre',
      'fr:data': 'Votre adresse',
      'fr:usage': 'Nous vous écrivons.',
      '*:retention.value': '1',
    }))
      await type(name, text);
    await choose('Unit', 'Years');
    await choose('Your consent');
    await choose('Nobody receives the data');
    await press('button', 'Save and activate');
    await press('button', 'Activate');
    await press('link', 'New form with it');
    await type('name', `Form ${javaScriptEnabled}`);
    await press('button', 'Create and design');
    const ofLab = page.locator(`button[value^="add:processing."][value*="@"]`).first();
    await press('button', (await ofLab.getAttribute('aria-label')) ?? '');
    await page.locator('input[name="elements"][value*="@"]').waitFor({ state: 'attached' });
    await press('button', 'Save and activate');
    await press('button', 'Activate');
    await choose(
      'People who do not say who they are. You do not learn it either, so you can neither write to them nor act for them: for surveys, and for consents that concern nobody by name. Only their receipt leads them back to their answers.',
    );
    await press('button', 'Switch the address on');
    expect(await page.locator('textarea#address').inputValue()).toMatch(/\/f\/layout\.\d+$/);
    expect(counts.presses).toBeLessThanOrEqual(20);
    // Ten without the element of the peer, which is added by a button of its own.
    expect(counts.loads).toBeLessThanOrEqual(11);
    const seconds = Math.round((performance.now() - begun) / 1000);
    await annotate(`${counts.presses} presses, ${counts.loads} page loads, ${seconds} s by a program`);
    await person.leave();
  });
});
