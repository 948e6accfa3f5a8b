import { XMLParser } from 'fast-xml-parser';
import { beforeAll, describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { type LiveTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const accepted = { 'element/processing/processing.001/1.0': ['accepted'] };
const hostile = 'a "<b>&amp;</b>" \u0085\ufffe ]]> \u{1f469}';
const subjectInfos = { 'first name & more': hostile, emailAddress: 'ann@example.org' };
const made: Record<string, LiveTransaction> = {};
beforeAll(async () => {
  for (const language of ['en', 'fr', 'ar'])
    made[language] = await recordAnswers(operator, `ann ${language}`, accepted, { language, subjectInfos });
});

const get = (language: string, format: string, accept?: string) =>
  operator.get(`/receipts/${made[language]?.id}${format}`, accept ? { Accept: accept } : {});

describe('a receipt as plain text', () => {
  it.each([
    ['en', 'Consent receipt', 'Accepted'],
    ['fr', 'Reçu de consentement', 'Accepté'],
    ['ar', 'إيصال الموافقة', 'مقبول'],
  ])('is in its language (%s), with the answers', async (language, title, answer) => {
    const response = await get(language, '?format=text');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('content-language')).toBe(language);
    const text = await response.text();
    expect(text).toContain(`${title}\n${'='.repeat(title.length)}\n`);
    expect(text).toContain(`\n    ann ${language}\n`);
    expect(text).toContain(answer);
  });

  it('has lines of at most 72 columns, except addresses and identifiers', async () => {
    const text = await (await get('fr', '?format=text')).text();
    for (const line of text.split('\n')) if (line.length > 72) expect(line.trim()).not.toContain(' ');
  });

  it('contains no markup, no control characters and no token', async () => {
    const text = await (await get('en', '', 'text/plain')).text();
    expect(text).toContain('a "<b>&amp;</b>"');
    expect(text).not.toMatch(/<\/?(div|p|dl|dt|dd|span)\b/);
    expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(text.match(/[?&]t=/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });

  it.each(['en', 'ar'])('has no character that gives others another order (%s)', async (language) => {
    const admin = await signIn(instance, 'admin');
    const turned = 'a\u202eb\u2066c\u202c\u2067d';
    const texts = { ...sampleContent.processing, title: turned, data: turned, usage: turned };
    const { key } = await makeLiveModel(admin, 'processing', { [language]: texts });
    const { id } = await recordAnswers(
      operator,
      `ann turned round ${language}`,
      { [`element/processing/${key}/1.0`]: ['accepted'] },
      { language, subjectInfos: { name: turned } },
    );
    const text = await (await operator.get(`/receipts/${id}?format=text`)).text();
    expect(text.split('abcd').length).toBeGreaterThan(4);
    expect(text).not.toMatch(/[\u202a-\u202e]/);
    // The isolates that are left are those of Accord, around values in texts from right to left.
    expect(text.replaceAll(/\u2068[^\u2066-\u2069]*\u2069/g, '')).not.toMatch(/[\u2066-\u2069]/);
    if (language === 'en') expect(text).not.toMatch(/[\u2066-\u2069]/);
  });

  it('has a file name for people', async () => {
    const [text, xml] = await Promise.all([get('en', '?format=text'), get('en', '?format=xml')]);
    const name = /^inline; filename="consent-localhost-\d{4}-\d{2}-\d{2}\.(txt|xml)"$/;
    for (const response of [text, xml]) expect(response.headers.get('content-disposition')).toMatch(name);
  });
});

describe('a receipt as XML', () => {
  it.each(['en', 'fr', 'ar'])('is valid against the published schema (%s)', async (language) => {
    const [receipt, schema] = await Promise.all([
      get(language, '?format=xml').then((response) => response.text()),
      instance.fetch('/assets/receipt.xsd').then((response) => response.text()),
    ]);
    const { valid, errors } = await validateXML({
      xml: [{ fileName: 'receipt.xml', contents: receipt }],
      schema: [schema],
    });
    expect({ valid, errors }).toEqual({ valid: true, errors: [] });
  });

  it('has the facts of the JSON, and the same bytes each time', async () => {
    const [first, second, json] = await Promise.all([
      get('en', '', 'application/xml').then((response) => response.text()),
      get('en', '?format=application/xml').then((response) => response.text()),
      get('en', '?format=json').then((response) => response.json() as Promise<Record<string, unknown>>),
    ]);
    expect(second).toBe(first);
    const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false });
    const { receipt } = parser.parse(first) as { receipt: Record<string, unknown> };
    const { transaction, subject, timestamp, consents, confirmation } = json;
    expect(receipt).toMatchObject({ transaction, subject, date: timestamp, confirmation });
    const [consent] = consents as { identifier: string; answer: string[]; sha256: string }[];
    expect(first).toContain(`<identifier>${consent?.identifier}</identifier>`);
    expect(first).toContain(`<sha256>${consent?.sha256}</sha256>`);
    const infos = (receipt.subjectInfos as { info: Record<string, string>[] }).info;
    // XML cannot contain U+FFFE, not even escaped.
    expect(infos).toContainEqual({
      '@_name': 'first name & more',
      '#text': hostile.replace('\ufffe', '\ufffd'),
    });
  });
});
