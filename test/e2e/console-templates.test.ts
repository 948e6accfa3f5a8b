import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { withdrawModel } from '../support/instances/live-models.ts';
import { auditPage, looksIn } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const instance = useInstance();
const browser = useBrowser();
/** An organisation that has said nothing of itself yet. */
beforeAll(async () => {
  const admin = await signIn(instance, 'admin');
  const information = (await (await admin.get('/models/serials/information.001')).json()) as {
    id: string;
    key: string;
  };
  await withdrawModel(admin, information);
});

/** An officer at the first page of the console; every press, field and page load is counted. */
async function arrive(javaScriptEnabled: boolean, locale = 'en') {
  const context = await browser.newContext({ javaScriptEnabled, locale });
  context.setDefaultTimeout(10_000);
  const page: Page = await context.newPage();
  await enterConsole(page, instance.url, 'admin');
  const counts = { acts: 0, loads: 0 };
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame() && !request.redirectedFrom())
      counts.loads += 1;
  });
  return {
    page,
    counts,
    async press(selector: string) {
      counts.acts += 1;
      await page.locator(selector).first().click();
      await page.waitForLoadState('domcontentloaded');
    },
    async fill(name: string, text: string) {
      counts.acts += 1;
      await page.locator(`[name="${name}"]`).fill(text);
    },
    leave: () => context.close(),
  };
}

const organisation = {
  company: 'Lakeside Clinic',
  email: 'privacy@clinic.example.org',
  dataProtectionOfficer: 'Claire Morel, dpo@clinic.example.org',
  supervisoryAuthority: 'CNIL, www.cnil.fr',
  privacyPolicyUrl: 'https://clinic.example.org/privacy',
};

describe('from a template to the first answer', () => {
  it.for([
    ['with JavaScript', true],
    ['without JavaScript', false],
  ] as const)(
    'an information, two processings and a preference in two languages take few steps, %s',
    async ([, scripted], { annotate }) => {
      const { page, counts, press, fill, leave } = await arrive(scripted);
      await press('nav a[href="/console/forms"]');
      await press('a[href="/console/forms/new"]');
      await press('a[href="/console/forms/new/newsletter"]');
      // Ticked already where the information of the organisation has French.
      const french = 'input[name="languages"][value="fr"]';
      if (!(await page.locator(french).isChecked())) await press(french);
      if (scripted) for (const [name, text] of Object.entries(organisation)) await fill(name, text);
      // The second form uses what was said for the first.
      else expect(await page.locator('select[name="information"]').inputValue()).toMatch(/^information\./);
      await press('form.form button.primary');
      const frame = page.frameLocator('iframe[name^="preview"]:not([hidden])').locator('body');
      await frame.getByText('Our newsletter').first().waitFor();
      await press('button[name="op"][value="activate"]');
      expect(await page.locator('.checklist .lacks').count()).toBe(0);
      expect(await page.locator('.checklist .met').count()).toBe(scripted ? 6 : 5);
      await press('form.form button.primary');
      await press('input[name="identify"][value="ANONYMOUS"]');
      await press('form.form button.primary');
      const address = await page.locator('textarea#address').inputValue();
      counts.acts += 1;
      await page.goto(address);
      await press('button[type="submit"]');
      await press('input[type="radio"][value="accepted"]');
      await press('input[type="radio"][value="refused"] >> nth=1');
      await press('button:has-text("Send my choices")');
      await page.locator('a[href*="/receipts/"]').first().waitFor();
      // What was answered to each of the two processings.
      const said = await page.locator('main').innerText();
      for (const text of ['Our newsletter', 'Accepted', 'Refused']) expect(said).toContain(text);
      await annotate(`${counts.acts} clicks and fields, ${counts.loads} page loads`);
      expect(counts.acts).toBeLessThanOrEqual(20);
      expect(counts.loads).toBeLessThanOrEqual(11);
      await leave();
    },
  );

  it.each(['en', 'fr', 'ar'])('the pages have no fault for readers of %s', async (locale) => {
    const { page, leave } = await arrive(true, locale);
    for (const path of ['forms/new', 'forms/new/doctor', 'elements/new', 'elements/new/information']) {
      await page.goto(`${instance.url}/console/${path}`);
      expect(await auditPage(page, looksIn(locale))).toEqual([]);
    }
    await leave();
  });
});
