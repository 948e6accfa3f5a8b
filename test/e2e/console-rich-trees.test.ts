import { describe, expect, it } from 'vitest';
import { field, paste, richEditors, saveDraft, text, tool } from '../support/console/rich-editors.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const instance = useInstance();
const browser = useBrowser();
const inEditor = richEditors(instance, browser);

/** As Word and the web give it, and as an attacker would. */
const hostile = `<html><head><style>p { color: red }</style><title>Not text</title></head><body>
<!--[if gte mso 9]><xml></xml><![endif]-->
<h1 style="color:red" onclick="executed.push(1)" id="main">Title</h1>
<b style="font-weight:normal"><p class="MsoNormal" style="margin:0">Word <span style="font-weight:700">bold</span><span
 style="font-style:italic"> and italic</span><o:p></o:p></p></b>
<img src="x" onerror="executed.push(2)"><svg onload="executed.push(3)"><text>svg</text></svg>
<div hx-get="/console" hx-trigger="load">A <a href="javascript:executed.push(4)">bad</a>, <a href="/console">relative</a>
and <a href="https://example.org/" target="_top">good</a> link</div>
<ul class="x"><li style="y">item</li></ul><script>executed.push(5)</script><iframe src="javascript:executed.push(6)"></iframe>
<form action="https://evil.example"><input name="op" value="save"><p>end</p></form></body></html>`;

describe('a rich text', () => {
  it.each([
    '<p>One</p>\n\n<p>Two <b>bold</b> <i>it</i> <strong>strong</strong></p>',
    'Only text with <em>emphasis</em> &amp; more',
    '<ul>\n  <li>One\n    <ul><li>Inner</li></ul></li>\n  <li>Two</li>\n</ul>',
    '<div><p>In a div</p>beside</div><blockquote>Quoted</blockquote>',
    '<ol start="3" type="a"><li>Clause</li><li value="7">Another</li></ol>',
    '<ol reversed><li>Two</li><li>One</li></ol>',
    '<p lang="fr" dir="ltr">Une ligne<br />et une autre</p><pre>a\n  b</pre>',
  ])('opens %j, and saves it byte for byte if nothing is typed', (html) =>
    inEditor({ en: html }, async ({ page, stored }) => {
      const before = (await stored()).en;
      await text(page).click();
      await page.keyboard.press('ArrowDown');
      await page.locator('[name="en:acceptLabel"]').fill('Yes');
      await saveDraft(page);
      expect((await stored()).en).toBe(before);
    }),
  );

  it.each([
    'Lines of a text\nwithout tags',
    '<p>One</p><hr /><p>Two</p>',
    '<p></p><p>after nothing</p>',
    '<p><span>without a meaning</span></p>',
    '<p>zero\u200bwidth</p>',
  ])('leaves %j as HTML, because it would change it', (html) =>
    inEditor({ en: html }, async ({ page, stored }) => {
      const before = (await stored()).en;
      await field(page).waitFor();
      await page.getByText('The text editor would change this HTML').waitFor();
      await page.locator('[name="en:acceptLabel"]').fill('Yes');
      await saveDraft(page);
      expect((await stored()).en).toBe(before);
    }),
  );

  it('reduces what is pasted to what a text may contain, and runs none of it', () =>
    inEditor({ en: '<p>x</p>' }, async ({ page }) => {
      await text(page).click();
      await page.keyboard.press('Control+a');
      await paste(page, hostile);
      await expect
        .poll(() => field(page).inputValue())
        .toBe(
          [
            '<h1>Title</h1>',
            '<p>Word <strong>bold</strong><em> and italic</em></p>',
            '<p>A <a>bad</a>, <a>relative</a> and <a href="https://example.org/">good</a> link</p>',
            '<ul><li>item</li></ul>',
            '<p>end</p>',
          ].join('\n'),
        );
      // All of it is deleted across blocks, which Chromium may give styles.
      await page.keyboard.press('Control+Home');
      await page.keyboard.press('Delete');
      for (let line = 0; line < 3; line += 1) await page.keyboard.press('Shift+ArrowDown');
      await page.keyboard.press('Backspace');
      await page.keyboard.press('Control+End');
      for (let sign = 0; sign < 12; sign += 1) await page.keyboard.press('Backspace');
      await text(page).getByText('end').waitFor({ state: 'detached' });
      expect(await page.evaluate('executed')).toEqual([]);
    }));

  it('tells what the API has taken away from a text, element by element', () =>
    inEditor({ en: '<p>One</p>', fr: '<p>Un</p>' }, async ({ page, stored }) => {
      await tool(page, 'HTML', 'fr').click();
      const typed = '<p class="x">Un</p><img src="data:," onerror="executed.push(1)"><x-y>reste</x-y>';
      await field(page, 'fr').fill(typed);
      await page.getByRole('button', { name: 'Save and activate' }).click();
      await page.getByText('The draft is saved. Texts cannot contain').waitFor();
      expect(await page.locator('.kept .facts').innerText()).toBe('Text (French)\n<p class> <img> <x-y>');
      expect(await stored()).toEqual({ en: '<p>One</p>', fr: '<p>Un</p>reste' });
      expect(await auditPage(page)).toEqual([]);
      await saveDraft(page);
    }));

  it('of a mail may link to the placeholder of its link', () =>
    inEditor(
      { en: '<p><a href="{link}">Open</a></p>' },
      async ({ page }) => {
        await text(page).click();
        await page.keyboard.press('Control+a');
        await tool(page, 'Link').click();
        const address = page.getByLabel('Address', { exact: true });
        expect(await address.inputValue()).toBe('{link}');
        await address.fill('https://example.org/');
        await page.keyboard.press('Enter');
        await expect
          .poll(() => field(page).inputValue())
          .toBe('<p><a href="https://example.org/">Open</a></p>');
      },
      { type: 'email' },
    ));
});
