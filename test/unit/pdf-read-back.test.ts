import { describe, expect, it } from 'vitest';
import { createTypesetter } from '../../services/forms/pdf/typesetter.ts';
import { compileTypesetter } from '../../services/forms/pdf/typesetter-program.ts';
import { pdfJob, sampleReceiptPage } from '../support/pages/pdf-jobs.ts';
import { findPdfToText } from '../support/pages/pdf-to-text.ts';
import type { SampleLanguage } from '../support/samples/sample-content.ts';
import { writtenSentences } from '../support/samples/written-sentences.ts';

const pdfToText = await findPdfToText();

/** A short receipt of which this is the subject and an answer. */
function receiptWith(language: SampleLanguage, sentence: string) {
  const page = sampleReceiptPage(language);
  const { unanswered, peers, ...receipt } = page.receipt;
  const consents = receipt.consents.flatMap((consent) =>
    consent.type === 'preference' ? { ...consent, answer: [sentence] } : [],
  );
  return { ...page, receipt: { ...receipt, subject: sentence, consents } };
}

/** Words, numbers and emoji: where directions meet, Poppler moves spaces and punctuation. */
const wordsOf = (text: string) =>
  ` ${text.match(/[\p{L}\p{M}]+|\p{N}+|(?:\p{Extended_Pictographic}|\u200d|\ufe0f)+/gu)?.join(' ')} `;

/** Poppler reverses text from right to left glyph by glyph, and thereby the letters within a ligature. */
const asPopplerReads = (text: string) =>
  text.replaceAll(/الله|لله|ل[اأإآ]/g, (ligature) => [...ligature].reverse().join(''));

const occurrences = (text: string, part: string) => text.split(part).length - 1;

describe.runIf(pdfToText)('a PDF receipt that Poppler reads', async () => {
  const typesetter = await createTypesetter(await compileTypesetter());
  const read = async (language: SampleLanguage, sentence: string) =>
    (await pdfToText?.(await typesetter.render(pdfJob(receiptWith(language, sentence))))) ?? '';

  it.each(writtenSentences)(
    'has what is written in logical order: $sentence',
    async ({ language, sentence }) => {
      const text = wordsOf(await read(language, sentence));
      expect(text).toContain(wordsOf(asPopplerReads(sentence)));
      // As the subject, and as the answer.
      expect(occurrences(text, wordsOf(asPopplerReads(sentence)))).toBe(2);
    },
  );

  it.each(writtenSentences.filter(({ sentence }) => !/\p{Script=Arabic}/u.test(sentence)))(
    'has every sign of $sentence',
    async ({ language, sentence }) => {
      const squeezed = (text: string) => text.normalize('NFKC').replaceAll(/\s/g, '');
      expect(squeezed(await read(language, sentence))).toContain(squeezed(sentence));
    },
  );

  it('has an address in its own order on each line', async () => {
    const page = sampleReceiptPage('ar');
    const text = (await pdfToText?.(await typesetter.render(pdfJob(page)))) ?? '';
    expect(text.replaceAll(/[\u2066-\u2069\u200e\u200f\u202a-\u202e]/g, '')).toMatch(
      /^\s*12 Quai des Saules\s*\n\s*33000 Bordeaux\s*$/m,
    );
    expect(text).not.toMatch(/\u2069\s*$/m);
  });

  it('has a letter twice if it has a vowel mark, a known fault', async () => {
    const withoutMarks = (await read('ar', 'كُتب')).replaceAll(/\p{M}/gu, '');
    expect(occurrences(withoutMarks, 'ككتب')).toBe(2);
    expect(occurrences(wordsOf(withoutMarks), ' كتب ')).toBe(0);
  });
});
