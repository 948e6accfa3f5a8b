import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTypesetter } from '../../services/forms/pdf/typesetter.ts';
import { compileTypesetter } from '../../services/forms/pdf/typesetter-program.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { pdfJob, sampleReceiptPage } from '../support/pages/pdf-jobs.ts';
import { arabicLines, elementsOf, readPdf } from '../support/pages/read-pdf.ts';

const typesetter = await createTypesetter(await compileTypesetter());
const render = (page: ReturnType<typeof sampleReceiptPage>) => typesetter.render(pdfJob(page));

/** A short receipt with this subject. */
function withSubject(subject: string) {
  const page = sampleReceiptPage('en');
  const { unanswered, peers, ...receipt } = page.receipt;
  return { ...page, receipt: { ...receipt, subject, consents: receipt.consents.slice(-1) } };
}

/** Without spaces, because lines and long words break in other places than on the page. */
const squeezed = (text: string) => text.replaceAll(/\s/g, '');
const codePoints = (text: string) => [...text].map((each) => each.codePointAt(0) as number);

describe('a PDF receipt', () => {
  it.each(['en', 'fr'] as const)('has every text of the page except its buttons (%s)', async (language) => {
    const page = sampleReceiptPage(language);
    const { text } = await readPdf(await render(page));
    const html = parsePage(pdfJob(page).html.replaceAll(/<(nav|form) .*?<\/\1>/gs, ''));
    const tags = ['h1', 'h2', 'h3', 'h4', 'dt', 'dd', 'bdi', 'code', 'p', 'li', 'strong'];
    const texts = tags.flatMap((tag) => html.tagged(tag).map((element) => html.text(element)));
    expect(texts.length).toBeGreaterThan(40);
    for (const each of texts) expect(squeezed(text)).toContain(squeezed(each));
  });

  it('is tagged: headings without gaps, lists, links, and a text for the QR code', async () => {
    const { structure, bookmarks, links, metadata, language } = await readPdf(
      await render(sampleReceiptPage('en')),
    );
    const elements = elementsOf(structure);
    const roles = elements.map(({ role }) => role);
    expect(roles).toEqual(
      expect.arrayContaining(['Document', 'H1', 'H2', 'H3', 'H4', 'P', 'L', 'LI', 'Link']),
    );
    const levels = roles.filter((role) => /^H\d$/.test(role)).map((role) => Number(role[1]));
    for (const [index, level] of levels.entries())
      expect(level).toBeLessThanOrEqual((levels[index - 1] ?? 0) + 1);
    const figures = elements.filter(({ role }) => role === 'Figure');
    expect(figures.map(({ alt }) => alt)).toEqual(['QR code of the address for changing your answers']);
    expect(bookmarks.slice(0, 2)).toEqual(['Consent receipt', '  Answers']);
    expect(links).toContain('https://riverside.example/terms');
    expect(metadata).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(language).toBe('en');
  });

  it('contains the fonts that it uses', async () => {
    const source = Buffer.from(await render(sampleReceiptPage('ar'))).toString('latin1');
    const fonts = source.match(/\/Type \/FontDescriptor/g) ?? [];
    expect(fonts.length).toBeGreaterThan(1);
    expect(source.match(/\/FontFile[23] \d+ 0 R/g)).toHaveLength(fonts.length);
    expect(source).toMatch(/\/FontName \/[A-Z]{6}\+Vazirmatn/);
  });

  it('reads from right to left in Arabic, with numbers in order', async () => {
    const pdf = await readPdf(await render(sampleReceiptPage('ar')));
    const lines = arabicLines(pdf).map((line) => line.replaceAll(/\s+/g, ' '));
    expect(lines).toContainEqual(expect.stringMatching(/^الشخص ?alice\.martin@example\.org$/));
    expect(lines).toContainEqual(expect.stringMatching(/3 ?مايو ?2025/));
    const heading = pdf.pieces.find(({ text }) => text.includes('إيصال'));
    expect(heading?.right).toBeGreaterThan(500);
    const page = pdf.pieces.find(({ text }) => text.includes('alice'));
    expect(page?.left).toBeLessThan(400);
  });

  it('is the same for the same receipt, and another one for another receipt', async () => {
    const [first, second] = [await render(withSubject('ann')), await render(withSubject('ann'))];
    await render(withSubject('bob'));
    expect(Buffer.compare(first, second)).toBe(0);
    expect(Buffer.compare(first, await render(withSubject('ann')))).toBe(0);
    expect(Buffer.compare(first, await render(withSubject('bob')))).not.toBe(0);
  });

  it("shows the theme's logo with its text alternative", async () => {
    const logo = { url: '/assets/logos/1', alt: 'Riverside', position: 'CENTER' as const };
    const page = { ...sampleReceiptPage('en'), theme: { key: 'theme.001', serial: '1.0', logo } };
    const body = await readFile(new URL('../../docs/images/form.png', import.meta.url));
    const pdf = await typesetter.render({ ...pdfJob(page), logo: { extension: 'png', body } });
    const { structure } = await readPdf(pdf);
    const figures = elementsOf(structure).filter(({ role }) => role === 'Figure');
    expect(figures.map(({ alt }) => alt)).toContain('Riverside');
    const broken = { extension: 'png', body: new Uint8Array([1, 2, 3]) };
    const { text } = await readPdf(await typesetter.render({ ...pdfJob(page), logo: broken }));
    expect(text).toMatch(/^Riverside\n/);
  });
});

describe('texts of users on a PDF receipt', () => {
  it.each([
    ['code of the typesetter', '#import "x" $a_1^2$ *b* _c_ `d` \\ @e <f> // [g] {h} = i ~ "j" -- \'k\''],
    ['French', 'l’œuvre «\u00a0déjà vue\u00a0» à Besançon – 12 €'],
    ['Cyrillic and Greek', 'Ελληνικά и русский'],
    ['emoji', 'a 😀 b ❤️ c 👩‍💻 d'],
  ])('are printed as they are: %s', async (_, subject) => {
    const { text } = await readPdf(await render(withSubject(subject)));
    expect(squeezed(text)).toContain(squeezed(subject));
  });

  it('lose control characters, and cannot change the order of other texts', async () => {
    const { text } = await readPdf(await render(withSubject('a\u0007b\u202ec\ufeff')));
    expect(text).toContain('Consent receipt');
    expect(squeezed(text)).toContain('Personabc');
  });

  it('show � for characters without a glyph, and a note says so', async () => {
    const { text } = await readPdf(await render(withSubject('𒀀𒁀')));
    expect(text).toContain('��');
    expect(text).toContain('receipt.jws');
    expect((await readPdf(await render(withSubject('ann')))).text).not.toContain('receipt.jws');
  });

  it('stay on the page, however long a word is', async () => {
    const page = withSubject('W'.repeat(700));
    const consents = page.receipt.consents.map((consent) =>
      consent.type === 'preference' ? { ...consent, answer: ['M'.repeat(21), 'W'.repeat(500)] } : consent,
    );
    const { pieces } = await readPdf(await render({ ...page, receipt: { ...page.receipt, consents } }));
    for (const { text, right } of pieces) expect([text, right <= 595 - 60]).toEqual([text, true]);
  });

  it('are printed completely, whatever ASCII they are made of', { timeout: 240_000 }, async () => {
    const ascii = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(ascii, async (subject) => {
        const { text } = await readPdf(await render(withSubject(subject)));
        expect(squeezed(text)).toContain(squeezed(`Person${subject}`));
      }),
      { numRuns: 20 },
    );
  });

  it('never make a document fail or contain an empty glyph', { timeout: 240_000 }, async () => {
    const any = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(any, async (subject) => {
        const { text } = await readPdf(await render(withSubject(subject)));
        expect(codePoints(text)).not.toContain(0);
      }),
      { numRuns: 20, examples: [['😀\u180f'], ['⌵']] },
    );
  });
});
