import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { receiptXml } from '../../services/transactions/receipts/xml.ts';
import { fullReceipt, shortReceipt as receipt } from '../support/samples/sample-receipts.ts';

const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, trimValues: false });
/** Also a single element is a list. */
const lists = new XMLParser({
  ignoreAttributes: false,
  parseTagValue: false,
  trimValues: false,
  isArray: (name) => name === 'info' || name === 'attribute',
});
type Named = Record<'@_name' | '#text', string>;
const schemaUrl = 'https://consent.example/receipt.xsd';
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
      const read = parser.parse(await receiptXml({ ...receipt, subject }, schemaUrl));
      expect(read.receipt.subject).toBe(subject);
    }),
  );
});

it('a receipt as XML contains every name that a client chooses, with its value', async () => {
  const name = fc
    .oneof(
      fc.constantFrom('true', 'false', '', '__proto__', '#text', '@_name'),
      fc.string({ unit: 'grapheme' }),
    )
    .filter((each) => !/[\p{Cc}\ufffe\uffff]/u.test(each));
  const values = fc.dictionary(name, fc.constantFrom('true', '1', 'a"b'), { minKeys: 1, maxKeys: 5 });
  const named = (entries: { info?: Named[]; attribute?: Named[] }) =>
    (entries.info ?? entries.attribute)?.map((each) => [each['@_name'], each['#text']]);
  const check = async (subjectInfos: Record<string, string>, attributes: Record<string, string>) => {
    const xml = await receiptXml({ ...receipt, subjectInfos, attributes }, schemaUrl);
    expect(XMLValidator.validate(xml)).toBe(true);
    const { receipt: read } = lists.parse(xml);
    expect(named(read.subjectInfos)).toEqual(Object.entries(subjectInfos));
    expect(named(read.attributes)).toEqual(Object.entries(attributes));
  };
  await fc.assert(fc.asyncProperty(values, values, check), { examples: [[{ true: 'true' }, { true: '1' }]] });
});

it('a receipt as XML replaces characters that XML cannot contain', async () => {
  const xml = await receiptXml({ ...receipt, subject: 'a\u0000b\ud800c\uffffd' }, schemaUrl);
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
    const xml = await receiptXml({ ...receipt, confirmation }, schemaUrl);
    expect(xml).toContain(element);
    expect(await faultsOf(xml)).toEqual([]);
  },
);

it('a receipt as XML with every optional member is valid, in whatever order its members are stored', async () => {
  const full = fullReceipt();
  for (const body of [full, sorted(full)]) {
    const xml = await receiptXml(body, schemaUrl);
    expect(await faultsOf(xml)).toEqual([]);
    // The schema describes no member that the receipt lacks.
    const { receipt: read } = parser.parse(xml) as { receipt: object };
    const members = Object.keys(read).filter((name) => /^\w/.test(name));
    expect(members.sort()).toEqual(membersOfSchema());
  }
  const { updateUrl, ...rest } = full;
  expect(await faultsOf(await receiptXml(rest, schemaUrl))).toEqual([]);
});
