import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { elementsOf, type Fields, pressAll, sendForm } from '../support/console/sent-form.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();
let admin: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
});
afterAll(() => admin?.close());

const textOf = async (path: string) => (await admin.get(path)).text();
const send = (path: string, html: string, more: Fields) => sendForm(admin, { path, html }, more);
const press = (path: string, html: string, ops: string[]) => pressAll(admin, { path, html }, ops);
const shownIn = (html: string, name: string) =>
  new RegExp(`<input[^>]*name="${name}" value="([^"]*)"`).exec(html)?.[1];
const chosenIn = (html: string, name: string) =>
  new RegExp(`<select[^>]*name="${name}"[\\s\\S]*?<option value="([^"]*)" selected`).exec(html)?.[1];
const takesIn = (html: string) => [...html.matchAll(/value="take:([^"]+)"/g)].map(([, name]) => name);
const save = (path: string, html: string, more: Fields = []) => send(path, html, [['op', 'save'], ...more]);

const questions = ['processing.001', 'processing.002', 'preference.001'];

/** A saved form with three elements. @returns the path of its designer. */
async function makeForm(key: string): Promise<string> {
  const once = /name="once" value="([^"]+)"/.exec(await textOf('/console/forms/new'))?.[1] ?? '';
  await admin.post('/console/forms/new', { once, name: key, key, description: '' });
  const path = `/console/forms/${key}/edit`;
  const ops = questions.map((each) => `add:${each}`);
  await save(path, await press(path, await textOf(path), ops));
  return path;
}

/** Saves the designer as it was opened before another person's save. @returns the page that answers. */
async function saveLate(path: string, opened: string, more: Fields = []): Promise<string> {
  const before = await textOf(path);
  const response = await save(path, opened, more);
  expect(response.status).toBe(412);
  const storedOf = (html: string) => [shownIn(html, 'etag'), elementsOf(html)];
  expect(storedOf(await textOf(path)), 'nothing is saved').toEqual(storedOf(before));
  return response.text();
}

describe('the designer of two people, without JavaScript', () => {
  it('takes what one of them has changed: texts, options, languages and elements', async () => {
    const path = await makeForm('layout.merged');
    const opened = await textOf(path);
    await save(path, await press(path, opened, ['remove:0', 'add:processing.003']), [
      ['submitText-fr', 'Envoyer'],
      ['switches', 'footerOnTop'],
    ]);
    const mine = await press(path, opened, ['up:2']);
    const merged = await saveLate(path, mine, [
      ['cancelText-en', 'Not now'],
      ['orientation', 'HORIZONTAL'],
    ]);
    expect(elementsOf(merged)).toEqual(['preference.001', 'processing.002', 'processing.003']);
    expect(shownIn(merged, 'submitText-fr')).toBe('Envoyer');
    expect(shownIn(merged, 'cancelText-en')).toBe('Not now');
    expect(takesIn(merged)).toEqual([]);
    expect(merged).toContain('data-guard="changed"');
    expect((await save(path, merged)).status).toBe(303);
    const saved = await textOf(path);
    expect(elementsOf(saved)).toEqual(['preference.001', 'processing.002', 'processing.003']);
    expect(shownIn(saved, 'submitText-fr')).toBe('Envoyer');
    expect(shownIn(saved, 'cancelText-en')).toBe('Not now');
    for (const [name, value] of [
      ['orientation', 'HORIZONTAL'],
      ['switches', 'footerOnTop'],
    ])
      expect(saved).toMatch(new RegExp(`name="${name}" value="${value}"[^>]* checked`));
    expect(saved).not.toMatch(/value="validityVisible"[^>]* checked/);
  });

  it('offers a choice where both have changed the same, and keeps both until then', async () => {
    const path = await makeForm('layout.choice');
    const opened = await textOf(path);
    await save(path, await press(path, opened, ['up:1']), [
      ['submitText-en', 'Theirs & <b>'],
      ['info', 'information.001'],
    ]);
    const mine = await press(path, opened, ['up:2']);
    const merged = await saveLate(path, mine, [
      ['submitText-en', 'Mine'],
      ['cancelText-en', 'Not now'],
    ]);
    expect(takesIn(merged).sort()).toEqual(['elements', 'submitText-en']);
    expect(merged).toContain('Button to send (English)');
    expect(merged).toContain('Theirs &amp; &lt;b&gt;');
    expect(shownIn(merged, 'submitText-en')).toBe('Mine');
    expect(chosenIn(merged, 'info')).toBe('information.001');
    expect(elementsOf(merged)).toEqual(['processing.001', 'preference.001', 'processing.002']);
    // Choices are made one by one; other buttons leave them as they are.
    const text = await press(path, merged, ['search', 'take:submitText-en']);
    expect(shownIn(text, 'submitText-en')).toBe('Theirs &amp; &lt;b&gt;');
    expect(takesIn(text)).toEqual(['elements']);
    const taken = await press(path, text, ['take:elements']);
    expect(elementsOf(taken)).toEqual(['processing.002', 'processing.001', 'preference.001']);
    expect(takesIn(taken)).toEqual([]);
    expect((await save(path, taken)).status).toBe(303);
    const saved = await textOf(path);
    expect(shownIn(saved, 'cancelText-en')).toBe('Not now');
    expect(shownIn(saved, 'submitText-en')).toBe('Theirs &amp; &lt;b&gt;');
  });

  it('merges with a draft that was begun, activated or discarded meanwhile', async () => {
    const path = await makeForm('layout.moved');
    const page = path.replace(/\/edit$/, '');
    const act = async (name: string) => send(`${page}/${name}`, await textOf(`${page}/${name}`), []);
    const drafted = await textOf(path);
    await act('activate');
    const opened = await textOf(path);
    const another = await saveLate(path, drafted, [['submitText-en', 'After activation']]);
    expect(shownIn(another, 'submitText-en')).toBe('After activation');
    await save(path, opened, [['cancelText-en', 'Theirs']]);
    await act('activate');
    // There is no draft, as when the page was opened; the active version is another.
    const merged = await saveLate(path, opened, [['submitText-en', 'Mine']]);
    expect(shownIn(merged, 'cancelText-en')).toBe('Theirs');
    expect((await save(path, merged)).status).toBe(303);
    const redrafted = await textOf(path);
    await act('discard');
    const back = await saveLate(path, redrafted, [['acceptAllText-en', 'All']]);
    expect(shownIn(back, 'acceptAllText-en')).toBe('All');
    expect(shownIn(back, 'submitText-en')).toBe('');
  });

  it('saves one of two changes that are sent at the same time, and merges the other', async () => {
    for (const round of [1, 2]) {
      const once = /name="once" value="([^"]+)"/.exec(await textOf('/console/forms/new'))?.[1] ?? '';
      const key = `layout.raced-${round}`;
      await admin.post('/console/forms/new', { once, name: key, key, description: '' });
      const path = `/console/forms/${key}/edit`;
      // The first race is for the draft itself, the second for a change of it.
      for (const suffix of ['', ' again']) {
        const opened = await textOf(path);
        const texts = ['submitText-en', 'cancelText-en', 'acceptAllText-en'];
        const sent = await Promise.all(texts.map((name) => save(path, opened, [[name, name + suffix]])));
        expect(sent.map(({ status }) => status).sort()).toEqual([303, 412, 412]);
        for (const [index, response] of sent.entries()) {
          if (response.status !== 412) continue;
          const page = await response.text();
          expect(shownIn(page, texts[index] as string)).toBe(texts[index] + suffix);
        }
        const saved = await textOf(path);
        expect(texts.filter((name) => shownIn(saved, name) === name + suffix)).toHaveLength(1);
      }
    }
  });

  it('takes nothing for unchanged if a form does not say what it was opened with', async () => {
    const path = await makeForm('layout.foreign');
    const opened = await textOf(path);
    await save(path, opened, [['submitText-en', 'Theirs']]);
    for (const base of ['', '{', 'null', '{"languages":"en","values":{"x":1}}']) {
      const merged = await saveLate(path, opened, [
        ['base', base],
        ['submitText-en', 'Mine'],
      ]);
      expect(takesIn(merged), base).toContain('submitText-en');
    }
  });
});
