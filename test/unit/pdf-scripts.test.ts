import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '#lib/observability/logger.ts';
import { textDirection } from '#lib/pages/reader.ts';
import words from '../../services/forms/locales/en.json' with { type: 'json' };
import { createPdfRenderer } from '../../services/forms/pdf/pdf-renderer.ts';
import { createTypesetter } from '../../services/forms/pdf/typesetter.ts';
import { compileTypesetter } from '../../services/forms/pdf/typesetter-program.ts';
import { pdfJob, sampleReceiptPage } from '../support/pages/pdf-jobs.ts';
import { findPdfToText } from '../support/pages/pdf-to-text.ts';
import { elementsOf, readPdf } from '../support/pages/read-pdf.ts';
import { type ScriptSample, scriptSamples } from '../support/samples/texts-by-script.ts';

const pdfToText = await findPdfToText();
const typesetter = await createTypesetter(await compileTypesetter());
const emoji = '👍🏽 ❤️ 👩‍💻';

/** An English receipt for consent to an element of this language. */
function receiptIn({ language, title, usage, name }: ScriptSample): ReturnType<typeof sampleReceiptPage> {
  const page = sampleReceiptPage('en');
  const { unanswered, peers, ...receipt } = page.receipt;
  const consents = receipt.consents
    .filter(({ type }) => type !== 'conditions')
    .slice(-2)
    .map((consent) => {
      const isProcessing = consent.type === 'processing';
      const texts = { ...consent.texts, ...(isProcessing ? { title, usage } : { label: title }) };
      const answer = isProcessing ? consent.answer : [`${name} ${emoji}`];
      return { ...consent, lang: language, texts, answer };
    });
  return { ...page, receipt: { ...receipt, subject: name, consents } };
}

const squeezed = (text: string) =>
  text.normalize('NFKC').replaceAll(/[\s\u200e\u200f\u202a-\u202e\u2066-\u2069]|\ufe0f/g, '');
/** Poppler reverses text from right to left glyph by glyph, and thereby the letters within a ligature. */
const asPopplerReads = (text: string) =>
  text.replaceAll(/لا|لأ/g, (ligature) => [...ligature].reverse().join(''));
/** Where directions meet, Poppler moves spaces and punctuation. */
const partsOf = (text: string, language: string) =>
  textDirection(language) === 'rtl' ? (text.match(/[\p{L}\p{M} ]+/gu) ?? []).map(asPopplerReads) : [text];

const fontsIn = (pdf: Uint8Array) =>
  new Set(
    Array.from(
      Buffer.from(pdf)
        .toString('latin1')
        .matchAll(/\/FontName \/[A-Z]{6}\+([\w]+)/g),
      ([, name]) => name,
    ),
  );

describe('a PDF receipt in every script', () => {
  it.each(scriptSamples)('is drawn, tagged and copied as it is written: $script', async (sample) => {
    const pdf = await typesetter.render(pdfJob(receiptIn(sample)));
    const { structure, metadata, text } = await readPdf(pdf);
    expect(metadata).toContain('<pdfuaid:part>1</pdfuaid:part>');
    const languages = elementsOf(structure).map(({ lang }) => lang);
    expect(languages.filter((lang) => lang?.startsWith(sample.language.slice(0, 2)))).not.toEqual([]);
    expect(text).not.toContain('\ufffd');
    if (sample.font) expect(fontsIn(pdf)).toContain(sample.font);
    if (!pdfToText) return;
    const copied = squeezed(await pdfToText(pdf));
    const texts = [sample.title, sample.usage, sample.name, emoji];
    for (const part of texts.flatMap((each) => partsOf(each, sample.language)))
      expect(copied).toContain(squeezed(part));
  });

  it('draws Chinese characters without a language by the letters around them', async () => {
    const draw = (name: string) => {
      const page = sampleReceiptPage('en');
      return typesetter.render(
        pdfJob({ ...page, receipt: { ...page.receipt, subject: name, consents: [] } }),
      );
    };
    expect(fontsIn(await draw('佐藤はな子'))).toContain('NotoSansJP');
    expect(fontsIn(await draw('佐藤 민지'))).toContain('NotoSansKR');
    expect(fontsIn(await draw('佐藤'))).toContain('NotoSansHans');
  });

  it('says which sign stands for the characters of a script that no font has', async () => {
    const sample = { ...(scriptSamples[0] as ScriptSample), name: 'Ann 𒀀𒁀' };
    const { text } = await readPdf(await typesetter.render(pdfJob(receiptIn(sample))));
    expect(squeezed(text)).toContain('Ann\ufffd\ufffd');
    expect(squeezed(text)).toContain(squeezed(words['receipt.replaced']));
    const next = await readPdf(await typesetter.render(pdfJob(receiptIn({ ...sample, name: 'Ann' }))));
    expect(next.text).not.toContain('\ufffd');
  });
});

describe('a poster in every script', () => {
  const poster = (samples: readonly ScriptSample[]) => ({
    date: '2026-01-01T00:00:00Z',
    poster: {
      title: 'Poster',
      url: 'https://consent.example/f/layout.001',
      qr: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>',
      sheets: samples.map(({ language, title, usage, name }) => ({
        lang: language,
        dir: textDirection(language),
        organisation: name,
        asks: name,
        title,
        titleLanguage: {},
        text: usage,
        alt: 'QR code',
        until: '',
      })),
    },
  });

  it('has a page for each', async () => {
    const pdf = await typesetter.render(poster(scriptSamples));
    const { pages, text, structure } = await readPdf(pdf);
    expect(pages).toBe(scriptSamples.length);
    expect(text).not.toContain('\ufffd');
    expect(elementsOf(structure).filter(({ role }) => role === 'H1')).toHaveLength(pages);
    for (const { font } of scriptSamples) if (font) expect(fontsIn(pdf)).toContain(font);
    const copied = squeezed((await pdfToText?.(pdf)) ?? text);
    for (const { title, language } of scriptSamples)
      if (pdfToText) for (const part of partsOf(title, language)) expect(copied).toContain(squeezed(part));
  });

  it('is refused with the characters that no font has', async () => {
    const sample = { ...(scriptSamples[0] as ScriptSample), title: 'For 𒀀' };
    const renderer = createPdfRenderer({ log: createLogger({ level: 'silent' }), limitMs: 60_000 });
    onTestFinished(() => renderer.stop());
    await expect(renderer.render(poster([sample]), 'ann')).rejects.toMatchObject({
      code: 'not-acceptable',
      message: expect.stringContaining('“𒀀”'),
    });
  });
});
