import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import type { DataController, InformationContent, ProcessingContent } from '#lib/contracts/form-content.ts';
import type { ReceiptBody, ReceiptUnanswered } from '#lib/contracts/receipt-body.ts';
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

const schema = readFileSync(new URL('../../services/forms/assets/receipt.xsd', import.meta.url), 'utf8');

/** What the published schema finds wrong. */
async function faultsOf(xml: string) {
  const { errors } = await validateXML({
    xml: [{ fileName: 'receipt.xml', contents: xml }],
    schema: [schema],
  });
  return errors;
}

/** Members of the receipt itself that the schema describes. */
function membersOfSchema(): string[] {
  const [start, end] = ['<xs:complexType name="receipt">', '<xs:complexType name="confirmation">'];
  const described = schema.slice(schema.indexOf(start), schema.indexOf(end));
  return [...described.matchAll(/^ {6}<xs:element name="(\w+)"/gm)].map(([, name = '']) => name).sort();
}

/** The same object with all members in alphabetical order, as PostgreSQL may store them. */
function sorted<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)])) as Value;
}

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
    expect(await faultsOf(xml)).toEqual([]);
  },
);

it('a receipt as XML with every optional member is valid, in whatever order its members are stored', async () => {
  const controller: Required<DataController> = {
    company: 'Clinic',
    info: 'Jeanne Marchal',
    address: '12 Quai des Saules\n33000 Bordeaux',
    email: 'privacy@consent.example',
    phoneNumber: '+33 5 55 01 02 03',
  };
  const information: Required<Omit<InformationContent, 'lang'>> = {
    title: 'Who asks',
    header: '<p>Hello & <strong>welcome</strong></p>',
    footer: '<p>Goodbye</p>',
    jurisdiction: 'European Union',
    dataController: controller,
    scope: 'Patients',
    shortNoticeLink: 'https://consent.example/short?a=1&b=2',
    privacyPolicyUrl: 'https://consent.example/privacy',
    customPrivacyPolicyText: 'Privacy',
    jurisdictionVisible: true,
    dataControllerVisible: true,
    scopeVisible: false,
    shortNoticeLinkVisible: true,
  };
  const processing: Required<Omit<ProcessingContent, 'lang'>> = {
    title: 'Letter',
    data: 'Name',
    retention: { label: 'a year', value: 1, unit: 'YEAR', fullText: 'As long as you wish' },
    usage: 'News',
    purposes: ['CONSENT_MARKETING', 'CONSENT_RESEARCH'],
    legalBases: ['LEGAL_BASIS_CONSENT', 'LEGAL_BASIS_CONTRACT'],
    containsSensitiveData: true,
    containsMedicalData: false,
    dataController: controller,
    dataControllerVisible: true,
    thirdParties: [{ name: 'Post', value: 'Delivers' }, { name: 'Printer' }],
    refusable: true,
  };
  const sha256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
  const shown = { lang: 'pt-BR', texts: processing, sha256 };
  const element: Required<ReceiptUnanswered> = {
    identifier: 'element/processing/b/1.0',
    type: 'processing',
    options: ['accepted', 'refused'],
    owner: 'Clinic',
    ...shown,
  };
  const full: Required<ReceiptBody> = {
    ...receipt,
    kind: 'WITHDRAWAL',
    signals: { gpc: true },
    subjectInfos: { emailAddress: 'ann@example.org', 'first name & more': '<b>' },
    object: 'contract 7',
    language: 'zh-Hant-TW',
    jurisdiction: 'European Union',
    leader: { location: 'https://hospital.example', id: 'part' },
    author: 'operator',
    expirationTimestamp: '2026-09-12T09:00:00.000Z',
    confirmation: { type: 'SMS_CODE', destination: '…1234', confirmedAt: receipt.timestamp },
    information: { identifier: 'element/information/a/1.0', lang: 'en', texts: information, sha256 },
    consents: [
      { ...element, answer: ['accepted'], withdrawn: receipt.timestamp },
      {
        ...element,
        answer: ['refused'],
        withdraws: { record: 'record', receiptId: 'receipt', given: receipt.timestamp },
      },
      { ...element, answer: [] },
    ],
    unanswered: [element, element],
    peers: ['Lab', 'Hospital'].map((name) => ({
      name,
      location: 'https://lab.example:8443/consent',
      information: { identifier: 'element/information/c/1.0', lang: 'fr', texts: information, sha256 },
      elements: [{ identifier: 'element/processing/d/1.0', ...shown }],
    })),
    privacyPolicyUrl: 'https://consent.example/privacy',
    attributes: { desk: '3', 'a b': '' },
    updateUrl: 'https://consent.example/consents/transaction?t=token',
    parent: 'parent',
  };
  for (const body of [full, sorted(full)]) {
    const xml = await receiptXml(body, 'https://consent.example/receipt.xsd');
    expect(await faultsOf(xml)).toEqual([]);
    // The schema describes no member that the receipt lacks.
    const { receipt: read } = parser.parse(xml) as { receipt: object };
    const members = Object.keys(read).filter((name) => /^\w/.test(name));
    expect(members.sort()).toEqual(membersOfSchema());
  }
  const { updateUrl, ...rest } = full;
  expect(await faultsOf(await receiptXml(rest, 'https://consent.example/receipt.xsd'))).toEqual([]);
});
