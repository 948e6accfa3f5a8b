import { describe, expect, it } from 'vitest';
import type { ReceiptPage } from '#lib/contracts/pages.ts';
import type { Drawn } from '../../services/forms/pages/page-model.ts';
import { pageText } from '../../services/forms/pages/page-text.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import type { SampleLanguage } from '../support/samples/sample-content.ts';

const sample = samplePages('en').receipt as Drawn<ReceiptPage>;
const dataController = { company: 'A hidden company', email: 'hidden@example.org' };
const shortNoticeLink = 'https://hidden.example/short';
const information = { title: 'T', scope: 'A hidden scope', dataController, shortNoticeLink };

/** The page of a receipt about texts with these flags. */
function page(flags: Record<string, boolean>, question: Record<string, boolean>): string {
  const receipt = structuredClone(sample.receipt);
  receipt.information.texts = { ...information, ...flags };
  for (const consent of receipt.consents)
    if (consent.type === 'processing')
      consent.texts = { ...consent.texts, dataController: { company: 'Somebody else' }, ...question };
  return renderer.render({ ...sample, receipt });
}

describe('a receipt', () => {
  it('does not claim that texts were shown which the page of the form hid', () => {
    const hidden = page({ dataControllerVisible: false }, { dataControllerVisible: false });
    expect(hidden).not.toMatch(/A hidden|hidden@|hidden\.example|Somebody else/);
  });

  it('has those that the page showed', () => {
    const shown = page({ scopeVisible: true, dataControllerVisible: true, shortNoticeLinkVisible: true }, {});
    const texts = ['A hidden scope', 'A hidden company', 'hidden@example.org', shortNoticeLink];
    for (const text of [...texts, 'Somebody else']) expect(shown).toContain(text);
  });
});

describe('the end of the validity on a receipt', () => {
  const consents = sample.receipt.consents;
  const season = { ...consents[0], type: 'conditions' } as (typeof consents)[number];
  const shown = (more: Partial<ReceiptPage['receipt']>) => {
    const { expirationTimestamp: _none, ...receipt } = sample.receipt;
    return pageText(renderer.render({ ...sample, receipt: { ...receipt, ...more } }));
  };

  it('is a date, or none if all own answers are to conditions', async () => {
    expect(await shown({ expirationTimestamp: '2026-09-12T09:00:00.000Z' })).toMatch(
      /Valid until\s+12\sSeptember/,
    );
    expect(await shown({ consents: [season] })).toMatch(/Valid until\s+No end date/);
  });

  it.each([
    ['all questions belong to peers', { consents: [], unanswered: [] }],
    ['no question was answered', { consents: [], peers: [] }],
  ])('is not stated where %s', async (_, more) => {
    expect(await shown(more)).not.toMatch(/Valid until|No end date/);
  });
});

describe('a receipt of answers that a code confirmed', () => {
  const confirmedAt = '2025-05-03T12:05:00Z';
  const texts = async (language: SampleLanguage, confirmation: ReceiptPage['receipt']['confirmation']) => {
    const model = samplePages(language).receipt as Drawn<ReceiptPage>;
    const html = renderer.render({ ...model, receipt: { ...model.receipt, confirmation } });
    // The isolates around values in Arabic are not shown.
    return [html, await pageText(html)].map((text) =>
      plainSpaces(text.replaceAll(/[\u2068\u2069]|\n +(?=\S)/g, ' ')),
    );
  };
  const code = (type: string, destination?: string) => ({ type, destination, confirmedAt });

  it.each([
    ['en', 'EMAIL_CODE', 'A code sent by email to a…@example.org, entered on 3 May 2025 at 14:05 CEST'],
    ['en', 'FORM_CODE', 'A code shown on the page, entered on 3 May 2025 at 14:05 CEST'],
    ['fr', 'SMS_CODE', 'Code envoyé par SMS au …4567, saisi le 3 mai 2025 à 14:05 UTC+2'],
    ['ar', 'FORM_CODE', 'رمز معروض في الصفحة، وتاريخ إدخاله  3 مايو 2025'],
  ] as const)('says so in %s for %s, on the page and as text', async (language, type, text) => {
    const destination = { EMAIL_CODE: 'a…@example.org', SMS_CODE: '…4567', FORM_CODE: undefined }[type];
    for (const shown of await texts(language, code(type, destination))) expect(shown).toContain(text);
  });

  it('has no such fact without a code', async () => {
    for (const shown of await texts('en', 'NONE')) expect(shown).not.toContain('Confirmed by');
    expect((await texts('en', code('FORM_CODE')))[0]).toContain('Confirmed by');
  });
});
