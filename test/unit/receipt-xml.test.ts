import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { XMLParser } from 'fast-xml-parser';
import { expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { receiptXml } from '../../services/transactions/presenters/receipt-xml.ts';
import { fullReceipt, shortReceipt as receipt } from '../support/samples/sample-receipts.ts';

const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, trimValues: false });

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
  const full = fullReceipt();
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
