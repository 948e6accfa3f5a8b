import { expect, it } from 'vitest';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { pageText } from '../../services/forms/pages/page-text.ts';
import { createTypesetter } from '../../services/forms/pdf/typesetter.ts';
import { compileTypesetter } from '../../services/forms/pdf/typesetter-program.ts';
import { receiptXml } from '../../services/transactions/receipts/xml.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { pdfJob, sampleReceiptPage } from '../support/pages/pdf-jobs.ts';
import { readPdf } from '../support/pages/read-pdf.ts';
import { fullReceipt } from '../support/samples/sample-receipts.ts';

const typesetter = await createTypesetter(await compileTypesetter());

/** Members that formats for people show in words or in another notation. */
const inWords = new Set(
  'type lang language kind collectionMethod purposes legalBases unit valueType owner gpc timestamp'
    .concat(' expirationTimestamp validity choice confirmedAt given withdrawn')
    .split(' '),
);

/** Facts that the body has twice, and the URL that is a QR code and a button. */
const elsewhere = new Set([
  'information.texts.jurisdiction',
  'consents.texts.options',
  'unanswered.texts.options',
  'privacyPolicyUrl',
  'updateUrl',
]);

/** Marks every text of a receipt. @returns the path of each mark. */
function markTexts(body: ReceiptBody): { marked: ReceiptBody; paths: Map<string, string> } {
  const paths = new Map<string, string>();
  const mark = (value: unknown, path: string[]): unknown => {
    const [name = '', holder] = path.toReversed();
    if (Array.isArray(value)) return value.map((each) => mark(each, path));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, mark(each, [...path, key])]),
      );
    const isCode = /^(accepted|refused)$/.test(String(value));
    // The form shows the full text of a retention in place of its label.
    const isReplaced = holder === 'retention' && name === 'label';
    const isOmitted = inWords.has(name) || elsewhere.has(path.join('.')) || isCode || isReplaced;
    if (typeof value !== 'string' || isOmitted) return value;
    const text = `m${paths.size}z`;
    paths.set(text, path.join('.'));
    return value.startsWith('<p>') ? `<p>${text}</p>` : `${value}${text}`;
  };
  return { marked: mark(body, []) as ReceiptBody, paths };
}

it('has every text of the JSON body, as page, PDF, text and XML', async () => {
  const { marked, paths } = markTexts(fullReceipt());
  const page = { ...sampleReceiptPage('en'), receipt: marked };
  const { html } = pdfJob(page);
  const formats = {
    page: parsePage(html).text(),
    text: await pageText(html),
    pdf: (await readPdf(await typesetter.render(pdfJob(page)))).text,
    xml: await receiptXml(marked, 'https://consent.example/receipt.xsd'),
  };
  expect(paths.size).toBeGreaterThan(100);
  for (const [format, text] of Object.entries(formats)) {
    // Lines and long words break in other places in each format.
    const squeezed = text.replaceAll(/\s/g, '');
    const missing = [...paths].filter(([mark]) => !squeezed.includes(mark)).map(([, path]) => path);
    expect([format, missing]).toEqual([format, []]);
  }
});
