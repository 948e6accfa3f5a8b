import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { receiptXml } from '../../services/transactions/presenters/receipt-xml.ts';

const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, trimValues: false });
const receipt: ReceiptBody = {
  receiptId: 'receipt',
  transaction: 'transaction',
  subject: 'ann',
  language: 'en',
  collector: { instance: 'https://consent.example', name: 'Clinic' },
  collectionMethod: 'WEBFORM',
  timestamp: '2026-03-12T09:00:00.000Z',
  confirmation: 'NONE',
  information: { identifier: 'element/information/a/1.0', texts: {}, sha256: '00' },
  consents: [],
};

it('a receipt as XML contains every text unchanged, whatever characters it has', async () => {
  // Parsers turn line breaks of other systems into \n (XML 1.0, §2.11), and empty elements have no text.
  const text = fc
    .string({ unit: 'grapheme', minLength: 1 })
    .filter((each) => /\S/.test(each) && !each.includes('\r'));
  await fc.assert(
    fc.asyncProperty(text, async (subject) => {
      const read = parser.parse(
        await receiptXml({ ...receipt, subject }, 'https://consent.example/receipt.xsd'),
      );
      expect(read.receipt.subject).toBe(subject);
    }),
  );
});

it('a receipt as XML replaces characters that XML cannot contain', async () => {
  const xml = await receiptXml(
    { ...receipt, subject: 'a\u0000b\ud800c\uffffd' },
    'https://consent.example/receipt.xsd',
  );
  expect(xml).toContain('<subject>a\ufffdb\ufffdc\ufffdd</subject>');
});

it.each([
  ['NONE', '<confirmation>NONE</confirmation>'],
  [
    { type: 'EMAIL_CODE', destination: 'a…@example.org', confirmedAt: receipt.timestamp },
    `<confirmation destination="a…@example.org" confirmedAt="${receipt.timestamp}">EMAIL_CODE</confirmation>`,
  ],
  [
    { type: 'FORM_CODE', confirmedAt: receipt.timestamp },
    `<confirmation confirmedAt="${receipt.timestamp}">FORM_CODE</confirmation>`,
  ],
])(
  'a receipt as XML says how it was confirmed, as its schema describes: %j',
  async (confirmation, element) => {
    const xml = await receiptXml({ ...receipt, confirmation }, 'https://consent.example/receipt.xsd');
    expect(xml).toContain(element);
    const schema = readFileSync(new URL('../../services/forms/assets/receipt.xsd', import.meta.url), 'utf8');
    const { errors } = await validateXML({
      xml: [{ fileName: 'receipt.xml', contents: xml }],
      schema: [schema],
    });
    expect(errors).toEqual([]);
  },
);
