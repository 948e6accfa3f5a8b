import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { elementsOf, type Fields, pressAll, sendForm } from '../support/console/sent-form.ts';
import { useInstance } from '../support/instances/instance.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';

const instance = useInstance();
let admin: ConsolePages;
let operator: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
});
afterAll(() => Promise.all([admin, operator].map((each) => each?.close())));

const here = '/console/forms';

const textOf = async (path: string, by = admin) => (await by.get(path)).text();
const onceOf = (html: string) => /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';

const send = (path: string, html: string, more: Fields) => sendForm(admin, { path, html }, more);
const press = (path: string, html: string, ops: string[]) => pressAll(admin, { path, html }, ops);

/** Creates a form. @returns its path. */
async function makeForm(name: string, key: string): Promise<string> {
  const once = onceOf(await textOf(`${here}/new`));
  const response = await admin.post(`${here}/new`, { once, name, key, description: '' });
  expect(response.headers.get('location')).toBe(`${here}/${key}/edit?done=formMade`);
  return `${here}/${key}`;
}

describe('the list of forms', () => {
  it('shows layouts alone, filtered by a word, and exports them', async () => {
    const html = await textOf(here);
    expect(html).toContain(`href="${here}/layout.001"`);
    expect(html).not.toContain('processing.001');
    expect(await textOf(`${here}?keyword=no-such-form`)).toContain('Nothing matches these filters.');
    expect(await textOf(`${here}?format=csv`)).toContain('layout.001');
  });

  it('offers new forms to administrators alone', async () => {
    expect(await textOf(here, operator)).not.toContain(`${here}/new`);
    expect((await operator.get(`${here}/new`)).status).toBe(403);
    expect((await operator.get(`${here}/layout.001/edit`)).status).toBe(403);
    expect((await operator.get(`${here}/layout.001`)).status).toBe(200);
  });
});

describe('a new form', () => {
  it('is made once, and an existing key is refused with what was typed', async () => {
    await makeForm('Once', 'layout.once');
    const once = onceOf(await textOf(`${here}/new`));
    const response = await admin.post(`${here}/new`, {
      once,
      name: 'Twice',
      key: 'layout.once',
      description: '',
    });
    expect(response.status).toBe(409);
    const html = await response.text();
    expect(html).toContain('value="Twice"');
    expect(html).toContain('id="field-key-fault"');
  });
});

describe('a form with an element, begun on the page of the element', () => {
  const begin = async (by = admin) =>
    /href="(\/console\/forms\/new\?element=[^"]+)"/.exec(
      await textOf('/console/elements/processing.001', by),
    )?.[1];

  it('asks for its name, has the element, and is made once', async () => {
    const asked = await textOf((await begin()) ?? '');
    expect(asked).toMatch(/name="name" value=""/);
    expect(asked).not.toContain('class="cards"');
    const made = await send(`${here}/new`, asked, [['name', 'Letters']]);
    const path = made.headers.get('location') ?? '';
    expect(path).toMatch(/\/edit\?done=formMadeWith$/);
    const html = await textOf(path);
    expect(html).toContain('Design “Letters”');
    expect(elementsOf(html)).toEqual(['processing.001']);
    const again = await send(`${here}/new`, asked, [['name', 'Letters']]);
    expect(again.headers.get('location')).toBe(`${here}?done=repeated`);
  });

  it('is offered to administrators alone', async () => {
    expect(await begin(operator)).toBeUndefined();
  });
});

describe('the designer', () => {
  it('adds, moves and removes elements without saving, then saves and activates the form', async () => {
    const path = await makeForm('Welcome', 'layout.welcome');
    const added = await press(`${path}/edit`, await textOf(`${path}/edit`), [
      'add:processing.001',
      'add:preference.001',
      'add:processing.002',
    ]);
    expect(elementsOf(added)).toEqual(['processing.001', 'preference.001', 'processing.002']);
    const moved = await press(`${path}/edit`, added, ['up:2', 'down:0']);
    expect(elementsOf(moved)).toEqual(['processing.002', 'processing.001', 'preference.001']);
    expect(/<button[^>]*value="down:1"[^>]*>/.exec(moved)?.[0]).toContain('autofocus');
    expect(moved).toMatch(/id="status" role="status"[^>]*><p class="done">“[^”]+” has the place 2 of 3\.</);
    expect(moved).toContain('data-guard="changed"');
    expect(elementsOf(await textOf(`${path}/edit`))).toEqual([]);
    const removed = await press(`${path}/edit`, moved, ['remove:1']);
    expect(removed).not.toContain('has the place');
    const saved = await send(`${path}/edit`, removed, [
      ['op', 'save'],
      ['submitText-en', 'Send it'],
      ['validity', 'P2Y'],
      ['callback', 'https://www.example.org/thanks'],
    ]);
    expect(saved.headers.get('location')).toBe(`${path}/edit?done=formSaved`);
    const again = await textOf(`${path}/edit`);
    expect(elementsOf(again)).toEqual(['processing.002', 'preference.001']);
    expect(again).toContain('value="Send it"');
    expect(again).toMatch(/value="P2Y" selected/);
    const asked = await textOf(`${path}/activate`);
    expect(asked).toContain('Audience study\nHow often');
    for (const text of ['2 years', 'https://www.example.org/thanks'])
      expect(plainSpaces(asked)).toContain(text);
    const activated = await send(`${path}/activate`, asked, []);
    expect(activated.headers.get('location')).toBe(`${path}/address?done=formActivated`);
    const address = await textOf(activated.headers.get('location') ?? '');
    expect(address).toContain('The form is active.');
    expect(address).toContain('Now the form has no address of its own');
    const code = await textOf('/console/integration/code?form=layout.welcome');
    expect(code).toContain('&quot;layout.welcome&quot;');
    expect(code).toContain(`href="${path}"`);
    expect(await textOf(path)).toContain('/console/integration/code?form=layout.welcome');
    // Later versions need no other address.
    await send(`${path}/edit`, await textOf(`${path}/edit`), [
      ['op', 'save'],
      ['submitText-en', 'Send'],
    ]);
    const next = await send(`${path}/activate`, await textOf(`${path}/activate`), []);
    expect(next.headers.get('location')).toBe(`${path}?done=formActivated`);
  });

  it('moves an element to a place that was typed, at most to an end of the list', async () => {
    const path = await makeForm('Places', 'layout.places');
    const three = ['processing.001', 'processing.002', 'processing.003'];
    const ops = three.map((key) => `add:${key}`);
    const added = await press(`${path}/edit`, await textOf(`${path}/edit`), ops);
    const moveTo = async (place: string) => {
      const moved = await send(`${path}/edit`, added, [
        ['op', 'place:0'],
        ['place:0', place],
      ]);
      return elementsOf(await moved.text());
    };
    expect(await moveTo('2')).toEqual(['processing.002', 'processing.001', 'processing.003']);
    expect(await moveTo('99')).toEqual(['processing.002', 'processing.003', 'processing.001']);
    for (const place of ['1', '-3', '', 'x']) expect(await moveTo(place)).toEqual(three);
  });

  it('tells at once that conditions stand alone', async () => {
    const path = await makeForm('Mixed', 'layout.mixed');
    const ops = ['add:processing.001', 'add:conditions.001'];
    const html = await press(`${path}/edit`, await textOf(`${path}/edit`), ops);
    expect(html).toContain('Conditions stand alone');
    const alone = await press(`${path}/edit`, html, ['remove:0']);
    expect(alone).not.toContain('Conditions stand alone');
  });

  it('keeps an element that no peer shares any more, and says so', async () => {
    const path = await makeForm('Peers', 'layout.peers');
    const reference = 'processing.001@peer.example.org';
    const html = await press(`${path}/edit`, await textOf(`${path}/edit`), [`add:${reference}`]);
    expect(elementsOf(html)).toEqual([reference]);
    expect(html).toContain('No peer shares this element any more.');
    expect(html).toContain(`${reference}: This is not active, or no longer shared`);
  });

  it('speaks the languages of its elements, with texts of its own in each of them', async () => {
    const path = await makeForm('Languages', 'layout.languages');
    const languagesIn = (html: string) =>
      Array.from(html.matchAll(/name="languages" value="([^"]*)"/g), ([, each]) => each);
    const empty = await textOf(`${path}/edit`);
    const start = await press(`${path}/edit`, empty, ['add:processing.001']);
    expect(languagesIn(start)).toEqual(['en', 'ar', 'fr']);
    await send(`${path}/edit`, start, [
      ['op', 'save'],
      ['submitText-fr', 'Envoyer'],
    ]);
    const saved = await textOf(`${path}/edit`);
    expect(saved).toContain('value="Envoyer"');
    for (const language of ['English', 'French', 'Arabic'])
      expect(saved).toMatch(new RegExp(`name="preview"[^>]*>Preview in ${language}<`));
    const preview = await textOf(`${path}/preview`);
    expect(preview).toMatch(/<option value="ar">/);
    // Asked under the default information, which has the three languages, too.
    expect(languagesIn(await press(`${path}/edit`, saved, ['remove:0']))).toEqual(['en', 'fr', 'ar']);
  });

  it('shows what stands in it in each language, and why it cannot be shown; nothing is saved', async () => {
    const path = await makeForm('Live', 'layout.live');
    const html = await press(`${path}/edit`, await textOf(`${path}/edit`), ['add:processing.001']);
    const previewed = async (page: string, more: [string, string][]) =>
      (await send(`${path}/edit/preview`, page, more)).text();
    const french = await previewed(html, [
      ['preview', 'fr'],
      ['submitText-fr', 'Envoyer maintenant'],
    ]);
    expect(french).toContain('La lettre du programme');
    expect(french).toContain('Envoyer maintenant');
    const mixed = await press(`${path}/edit`, html, ['add:conditions.001']);
    expect(await previewed(mixed, [['preview', 'en']])).toContain('Conditions stand alone');
    expect(elementsOf(await textOf(`${path}/edit`))).toEqual([]);
  });

  it('keeps a form without elements as a draft, which cannot be activated', async () => {
    const path = await makeForm('Empty', 'layout.empty');
    await send(`${path}/edit`, await textOf(`${path}/edit`), [['op', 'save']]);
    const html = await textOf(`${path}/activate`);
    expect(html).toContain('Add at least one element.');
    expect(html).not.toContain(`action="${path}/activate"`);
  });
});

describe('a form', () => {
  it('is previewed in a frame that runs nothing', async () => {
    const html = await textOf(`${here}/layout.001/preview?language=fr&orientation=HORIZONTAL`);
    const url = /<iframe[^>]*src="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const page = await admin.get(url);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain('sandbox');
    const document = await page.text();
    expect(document).toContain('lang="fr"');
    expect(document.match(/class="column"/g)).toHaveLength(2);
  });

  it('is tried in a new tab, on pages that say so', async () => {
    const asked = await textOf(`${here}/layout.001/try`);
    expect(asked).toContain('trial/admin');
    expect(asked).toMatch(/<form[^>]* target="_blank"/);
    const response = await admin.fill(`${here}/layout.001/try`, {});
    expect(response.status).toBe(303);
    const form = response.headers.get('location') ?? '';
    expect(form).toContain(`${instance.url}/consents/`);
    const headers = { Accept: 'text/html' };
    expect(await (await fetch(form, { headers })).text()).toContain('This is a trial.');
    expect((await admin.post(`${here}/layout.001/try`, {})).headers.get('location')).toMatch(/repeated$/);
  });

  it('is renamed, exported, archived and deleted', async () => {
    const path = await makeForm('Short', 'layout.short');
    const html = await press(`${path}/edit`, await textOf(`${path}/edit`), ['add:processing.001']);
    await send(`${path}/edit`, html, [['op', 'save']]);
    await send(`${path}/activate`, await textOf(`${path}/activate`), []);
    await send(`${path}/name`, await textOf(`${path}/name`), [['name', 'Shorter']]);
    expect(await textOf(path)).toContain('Shorter');
    expect(JSON.parse(await textOf(`${path}/export`))).toMatchObject({ key: 'layout.short' });
    const archived = await send(`${path}/archive`, await textOf(`${path}/archive`), []);
    expect(archived.headers.get('location')).toBe(`${path}?done=form.archive`);
    const deleted = await admin.fill(`${path}/delete`, { typed: 'layout.short' });
    expect(deleted.headers.get('location')).toBe(`${here}?done=form.delete`);
    expect((await admin.get(path)).status).toBe(404);
  });

  it.each(['en', 'fr', 'ar'])('has pages with all their words in %s', async (language) => {
    for (const page of [
      '',
      '/new',
      ...['', '/edit', '/preview', '/try', '/name', '/archive', '/delete'].map(
        (each) => `/layout.001${each}`,
      ),
    ]) {
      const response = await admin.get(`${here}${page}`, { 'Accept-Language': language });
      expect(response.status, page).toBe(200);
      const html = await response.text();
      expect(html, page).not.toMatch(
        />(forms|designer|element|switch|text|activate|preview|try)\.[a-zA-Z]+</,
      );
      expect(html).not.toMatch(/ style=|<style|<script>| on\w+=/);
    }
  });
});
