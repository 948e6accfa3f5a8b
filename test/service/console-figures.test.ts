import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { parsePage } from '../support/pages/parse-page.ts';

const instance = useInstance();
let pages: ConsolePages;
const layoutData = { elements: ['processing.001', 'preference.003'] };
beforeAll(async () => {
  const operator = await signIn(instance, 'operator');
  const answers = ['accepted', 'accepted', 'accepted', 'refused'];
  for (const [index, decision] of answers.entries()) {
    const context = { subject: `subject-${index}`, layoutData, validity: 'P10D' };
    const values = { 'element/processing/processing.001/1.0': [decision] };
    await operator.send('POST', '/consents/singlestep', { context, values });
  }
  await operator.send('POST', '/consents', { subject: 'open', layoutData });
  // A withdrawal is no answer.
  await operator.send('POST', '/consents/singlestep', {
    context: { subject: 'subject-0', layoutData, validity: 'P10D' },
    values: { 'element/processing/processing.001/1.0': ['refused'] },
  });
  pages = await openPages(instance, 'admin');
});
afterAll(() => pages?.close());

/** The first page, which waits for its long counts. */
const read = async (query = '') => (await pages.get(`/console?wait=true${query}`)).text();

it('the first page says what was created, committed, accepted, and what expires', async () => {
  const html = await read();
  expect(html).toContain('6 transactions were created; 5 are answered (83%), one is still open.');
  expect(html).toContain('4 answers; 75% of them accept.');
  expect(html).toContain('4 valid answers expire in the next 30 days.');
});

it('answers that expire soon lead to asking their people again, who may do so', async () => {
  const page = parsePage(await read());
  const to = page.tagged('a').find(({ attribs: { href = '' } }) => href.includes('who=EXPIRING'));
  expect(to?.attribs.href).toBe('/console/campaigns/new?element=processing.001&who=EXPIRING');
  const form = parsePage(await (await pages.get(to?.attribs.href ?? '')).text());
  const ticked = form.tagged('input').filter(({ attribs }) => attribs.name === 'who' && 'checked' in attribs);
  expect(ticked.map(({ attribs }) => attribs.value)).toEqual(['EXPIRING']);
  const author = await openPages(instance, 'author');
  expect(await (await author.get('/console?wait=true')).text()).not.toContain('/console/campaigns/new');
  await author.close();
});

it('the plot and its table have the same counts', async () => {
  const page = parsePage(await read('&days=7'));
  const bars = (name: string) =>
    page
      .tagged('rect')
      .filter(({ attribs }) => attribs.class === name && attribs.x !== undefined)
      .map(({ attribs }) => Math.round((Number(attribs.height) / 120) * 6));
  const csv = await (await pages.get('/console?days=7&format=csv&table=days')).text();
  const rows = csv
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','));
  expect(rows).toHaveLength(7);
  expect(bars('created')).toEqual(rows.map(([, created]) => Number(created)));
  expect(bars('committed')).toEqual(rows.map(([, , committed]) => Number(committed)));
  expect(bars('created').at(-1)).toBe(6);
});

it.each([
  ['elements', 'processing.001,3,1,1'],
  ['expiring', 'processing.001,4,4'],
])('the table of %s is a file', async (table, line) => {
  const response = await pages.get(`/console?format=csv&table=${table}`);
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(await response.text()).toContain(`${line}\r\n`);
});

it('a period that does not exist is the usual one', async () => {
  expect(await read('&days=4000')).toContain('<a href="/console" aria-current="true">30 days</a>');
});

it('today is one day, without a plot', async () => {
  const html = await read('&days=1');
  expect(html).toContain('6 transactions were created');
  expect(html).not.toContain('<figure');
});

it('the first page says what is due to whom, and says nothing if nothing is', async () => {
  const technician = await openPages(instance, 'technician');
  expect(await (await technician.get('/console')).text()).not.toContain('>Due</h2>');
  await technician.close();
  const admin = await signIn(instance, 'admin');
  const made = await admin.send('POST', '/models', { type: 'processing', name: 'A draft' });
  const { id } = (await made.json()) as { id: string };
  const draft = { defaultLanguage: 'en', data: { en: { title: 'A draft' } } };
  await admin.send('POST', `/models/${id}/versions?incomplete=true`, draft);
  await admin.send('PUT', '/subjects/subject-1/hold', { reason: 'A claim' });
  await admin.send('POST', '/subjects/subject-1/erasure', {});
  const html = await read();
  expect(html).toMatch(
    /<a href="\/console\/elements\?status=DRAFT">The draft of an element is not active yet/,
  );
  expect(html).toContain('One erasure waits for the end of a hold');
  expect(html).toContain('<a href="#panel-expiring">4 valid answers expire in the next 30 days');
  expect(html).not.toContain('webhook fails');
});
