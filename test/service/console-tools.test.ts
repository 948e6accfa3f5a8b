import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gallery } from '../support/console/gallery/room.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();
let pages: ConsolePages;
beforeAll(async () => {
  pages = await openPages(instance, 'operator', { shown: [gallery] });
});
afterAll(() => pages?.close());

const read = async (path: string) => (await pages.get(`/console/gallery${path}`)).text();
const onceOf = (html: string) => /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';

describe('a list of the console', () => {
  it('keeps its filters in the links to further pages and to the file', async () => {
    const html = await read('?word=Row');
    expect(html).toContain('href="/console/gallery?word=Row&amp;cursor=10"');
    expect(html).toContain('href="/console/gallery?word=Row&amp;format=csv"');
    expect(await read('?word=Row&cursor=10')).toContain('href="/console/gallery?word=Row" rel="first"');
  });

  it('that matches nothing offers to clear the filters, and one that is empty the next act', async () => {
    expect(await read('?word=none')).toContain('Clear filters');
    expect(await read('?nothing=1')).toContain('There is no sample.');
  });

  it('exports all its pages as CSV in which no cell is a formula', async () => {
    const response = await pages.get('/console/gallery?format=csv');
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="([^"]+-)?samples-\d{4}-\d\d-\d\d\.csv"$/,
    );
    const lines = (await response.text()).trim().split('\r\n');
    expect(lines).toHaveLength(26);
    expect(lines[2]).toBe("'=SUM(A1),SUBMITTED,2026-05-03T10:00:00Z,1000");
  });
});

describe('a form of the console', () => {
  it('with faults has the status of the API, a summary that leads to the fields, and all values', async () => {
    const once = onceOf(await read('/form'));
    const typed = {
      once,
      name: '',
      url: 'ftp://x',
      text: '\nfirst\r\nsecond',
      color: 'blue',
      size: 'l',
      days: 'tu',
    };
    const response = await pages.post('/console/gallery/form', typed);
    expect(response.status).toBe(422);
    const html = await response.text();
    expect(html).toContain('3 entries need your attention');
    expect(html).toContain('<a href="#field-name">Name: Fill in this field.</a>');
    expect(html).toContain('<a href="#field-url">URL: must be an http or https URL</a>');
    expect(html).toContain('value="ftp://x"');
    expect(html).toContain('>\n\nfirst\nsecond</textarea>');
    for (const checked of ['value="l" checked', 'value="tu" checked', 'value="blue" selected'])
      expect(html).toContain(checked);
  });

  it('that creates something makes it once, however often it is sent', async () => {
    const once = onceOf(await read('/form'));
    const fields = { once, name: 'x' };
    expect(await (await pages.post('/console/gallery/form', fields)).text()).toContain('k_1234567890');
    const again = await pages.post('/console/gallery/form', fields);
    expect(again.headers.get('location')).toBe('/console/gallery?done=repeated');
    expect(await read('?done=repeated')).toContain('Nothing was made a second time.');
  });

  it('that was refused may be sent again', async () => {
    const once = onceOf(await read('/form'));
    expect((await pages.post('/console/gallery/form', { once, name: '' })).status).toBe(422);
    expect((await pages.post('/console/gallery/form', { once, name: 'x' })).status).toBe(200);
  });

  it('without a value to tell it from others makes nothing', async () => {
    const response = await pages.post('/console/gallery/form', { name: 'x' });
    expect(response.status).toBe(303);
  });
});

describe('a page whose calls failed', () => {
  it.each([
    [401, 401, '/console/sign-in?to=%2Fconsole%2Fgallery%2Ffailure%3Fstatus%3D401'],
    [404, 404, 'Not found'],
    [403, 403, 'Your role does not allow this.'],
    [429, 429, 'Try again in 7 seconds.'],
    [503, 503, 'Try again in 7 seconds.'],
    [500, 503, 'Try again in 7 seconds.'],
    [409, 409, 'Go back, check what you entered, and try again.'],
  ])('with %i is a %i that says what to do', async (status, shown, text) => {
    const response = await pages.get(`/console/gallery/failure?status=${status}`);
    expect(response.status).toBe(shown);
    expect(await response.text()).toContain(text);
  });
});

it('a message in the address of a page is one of the known ones, never a text', async () => {
  expect(await read('?done=deleted')).toContain('The sample is deleted.');
  expect(await read('?done=written')).not.toContain('written');
});
