import { beforeAll, describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { type LiveTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { makeEndlessQuestions } from '../support/instances/long-receipts.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { coloursOf, type ReadPdf, readPdf } from '../support/pages/read-pdf.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const accepted = { 'element/processing/processing.001/1.0': ['accepted'] };
const made: Record<string, LiveTransaction> = {};
beforeAll(async () => {
  for (const language of ['en', 'fr', 'ar'])
    made[language] = await recordAnswers(operator, `ann ${language}`, accepted, { language });
});

const get = (language: string, query: string) => operator.get(`/receipts/${made[language]?.id}${query}`);
const bytes = async (language: string, query = '?format=pdf') =>
  new Uint8Array(await (await get(language, query)).arrayBuffer());
const read = async (language: string): Promise<ReadPdf> => readPdf(await bytes(language));

const channels = (colour: string) =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
const isColourful = (colour: string) => new Set(channels(colour)).size > 1;
/** Contrast with white paper (WCAG 2.2, contrast ratio). */
function contrastWithWhite(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}

describe('a receipt as PDF', () => {
  it('has a file name for people, and its language', async () => {
    const { headers } = await get('fr', '?format=application/pdf');
    expect(headers.get('content-type')).toBe('application/pdf');
    expect(headers.get('content-language')).toBe('fr');
    expect(headers.get('content-disposition')).toMatch(
      /^inline; filename="consent-localhost-\d{4}-\d{2}-\d{2}\.pdf"$/,
    );
  });

  it.each([
    ['en', 'Consent receipt', 'Accepted'],
    ['fr', 'Reçu de consentement', 'Accepté'],
    ['ar', 'إيصال الموافقة', 'مقبول'],
  ])('is in the language of the receipt (%s)', async (language, title, answer) => {
    const pdf = await read(language);
    expect(pdf).toMatchObject({ title, language });
    expect(pdf.text).toContain(answer);
    expect(pdf.text).toContain(`ann ${language}`);
    expect(pdf.bookmarks[0]).toBe(title);
  });

  it('has the signed receipt as an attached file', async () => {
    const { attachments } = await read('en');
    const signed = await (await get('en', '?format=jose')).text();
    expect(attachments).toEqual({ 'receipt.jws': signed });
  });

  it('is offered before the other formats, on the receipt and on the final page', async () => {
    const html = { headers: { Accept: 'text/html' } };
    const receipt = parsePage(await (await get('en', '?format=html')).text());
    const links = receipt.tagged('a').map(({ attribs }) => attribs.href ?? '');
    expect(links.find((href) => href.includes('format='))).toContain(encodeURIComponent('application/pdf'));
    const final = links.find((href) => href.includes(`/consents/${made.en?.id}?t=`)) ?? '';
    const page = parsePage(await (await instance.fetch(final, html)).text());
    const offers = page.tagged('a').filter(({ attribs }) => attribs.href?.includes('/receipts/'));
    expect(offers.map((offer) => [page.text(offer), offer.attribs.class])).toEqual([
      ['Receipt as PDF', 'button primary'],
      ['See the receipt', 'button'],
    ]);
    const types = offers.map(async ({ attribs }) =>
      (await instance.fetch(attribs.href ?? '', html)).headers.get('content-type'),
    );
    expect(await Promise.all(types)).toEqual(['application/pdf', expect.stringMatching(/^text\/html/)]);
  });

  it('has the same bytes each time', async () => {
    const [first, second] = [await bytes('ar'), await bytes('ar')];
    expect(Buffer.compare(first, second)).toBe(0);
    expect(await bytes('ar', '?format=pdf&theme=nowhere')).toEqual(first);
  });

  it.each(['en', 'ar'])('has the accent colour of the theme that is asked for (%s)', async (language) => {
    const themed = await bytes(language, '?format=application/pdf&theme=theme.001');
    expect(await coloursOf(themed)).toContain('#8a2f5b');
    expect(await coloursOf(await bytes(language))).not.toContain('#8a2f5b');
    expect((await readPdf(themed)).text).toBe((await read(language)).text);
  });

  it('has the accent of the layout, as dark as the page has it', async () => {
    const css = '.accord { --accord-accent: #ffcc00 }';
    const { key } = await makeLiveModel(await signIn(instance, 'admin'), 'theme', {
      en: { name: 'Yellow', css },
    });
    const { id } = await recordAnswers(operator, 'ann in yellow', accepted, { theme: key });
    const pdf = new Uint8Array(await (await operator.get(`/receipts/${id}?format=pdf`)).arrayBuffer());
    const [colour = ''] = [...(await coloursOf(pdf))].filter((each) => isColourful(each));
    expect(colour).not.toBe('#ffcc00');
    expect(contrastWithWhite(colour)).toBeGreaterThan(4.5);
  });

  it('does not exist for a receipt that would fill hundreds of pages', async () => {
    const admin = await signIn(instance, 'admin');
    const answers = await makeEndlessQuestions(admin);
    const { id } = await recordAnswers(operator, 'ann at length', answers, { language: 'en' });
    const refused = await operator.get(`/receipts/${id}?format=pdf`);
    expect(refused.status).toBe(406);
    expect(await refused.json()).toMatchObject({ detail: expect.stringContaining('too long for a PDF') });
    expect((await operator.get(`/receipts/${id}?format=html`)).status).toBe(200);
  });
});
