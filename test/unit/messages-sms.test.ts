import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageContent } from '#lib/contracts/messages.ts';
import { createReader } from '#lib/pages/reader.ts';
import { measureSms, toGsm7 } from '../../services/forms/domain/sms-segments.ts';
import type { MailModel } from '../../services/forms/pages/message-parts.ts';
import { createPageRenderer } from '../../services/forms/pages/page-renderer.ts';
import { loadWords } from '../../services/forms/pages/words.ts';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type SampleLanguage, sampleLanguages } from '../support/samples/sample-content.ts';
import { messageKinds, sampleMessage } from '../support/samples/sample-messages.ts';

const documents = readFileSync(new URL('../../docs/messages.md', import.meta.url), 'utf8');

function codeSms(
  language: SampleLanguage,
  changes: Partial<MessageContent> = {},
  mail: MailModel | null = null,
) {
  const content = sampleMessage('code', language, { channel: 'sms', ...changes });
  return renderer.renderMessage(content, { language, mail, brand: null });
}

describe('the segments of an SMS', () => {
  it.each([
    ['a'.repeat(160), 'GSM-7', 1],
    ['a'.repeat(161), 'GSM-7', 2],
    ['a'.repeat(306), 'GSM-7', 2],
    ['a'.repeat(307), 'GSM-7', 3],
    ['€'.repeat(80), 'GSM-7', 1],
    ['€'.repeat(81), 'GSM-7', 2],
    ['€'.repeat(153), 'GSM-7', 3],
    ['é£ß@_#\n', 'GSM-7', 1],
    ['ê'.repeat(70), 'UCS-2', 1],
    ['ê'.repeat(71), 'UCS-2', 2],
    ['ê'.repeat(134), 'UCS-2', 2],
    ['ê'.repeat(135), 'UCS-2', 3],
    ['🙂'.repeat(35), 'UCS-2', 1],
    ['🙂'.repeat(67), 'UCS-2', 3],
    ['', 'GSM-7', 1],
  ] as const)('of %s are counted in %s', (text, encoding, segments) => {
    expect(measureSms(text)).toEqual({ encoding, segments });
  });

  it('lose the accents that GSM-7 lacks, but no other character', () => {
    expect(toGsm7('L’hôtel «Çà et là»… œuvre')).toBe('L\'hotel "Çà et là"... oeuvre');
    expect(toGsm7('مسرح')).toBeUndefined();
  });
});

describe('an SMS with a code', () => {
  it.each(sampleLanguages)('in %s says all in two segments', (language) => {
    const { subject, html, text } = codeSms(language);
    expect({ subject, html }).toEqual({ subject: null, html: null });
    const [first, ...rest] = text.split('\n');
    expect(first).toContain('Riverside Clinic');
    expect(first).toContain('042519');
    expect(first).toContain('10');
    expect(rest).toEqual(['@consent.riverside.example #042519']);
    expect(measureSms(text)).toEqual({ encoding: language === 'ar' ? 'UCS-2' : 'GSM-7', segments: 2 });
  });

  it.each(sampleLanguages)(
    'in %s fits in two segments for any organisation, and ends with the code',
    (language) => {
      fc.assert(
        fc.property(
          fc.oneof(
            fc.string({ unit: 'binary', maxLength: 600 }),
            fc.string({ unit: 'grapheme', maxLength: 300 }),
          ),
          fc.domain(),
          fc.integer({ min: 1, max: 1440 }),
          (organisation, host, minutes) => {
            const instance = { name: 'X', baseUrl: `https://${host}:8443`, timeZone: 'UTC' };
            const { text } = codeSms(language, { organisation, minutes, instance });
            expect(measureSms(text).segments).toBeLessThanOrEqual(2);
            expect(text.split('\n').at(-1)).toBe(`@${new URL(instance.baseUrl).hostname} #042519`);
          },
        ),
      );
    },
  );

  it('shortens a long name and keeps the rest', () => {
    const { text } = codeSms('fr', { organisation: `Théâtre ${'de la Rive '.repeat(30)}` });
    expect(text).toMatch(/^Votre code pour Theatre de la Rive|^Votre code pour Théatre de la Rive/);
    expect(text).toMatch(/\.\.\. : 042519\. Valable 10 minutes\. Si ce n'est pas vous/);
  });

  it('keeps accents that fit', () => {
    expect(codeSms('en', { organisation: 'Çê' }, { subject: '{organisation}: {code}', body: 'x' }).text).toBe(
      'Çê: 042519\nx\n@consent.riverside.example #042519',
    );
  });

  it('has the text of a model that fits, with the code even if the model lacks it', () => {
    expect(codeSms('en', {}, { subject: 'Hello', body: '<p>One</p><p>Two</p>' }).text).toBe(
      'Hello\nOne\nTwo\n042519\n@consent.riverside.example #042519',
    );
    expect(codeSms('en', {}, { subject: 'Hello', body: 'x'.repeat(400) }).text).toMatch(
      /^Your code for Riverside/,
    );
  });
});

describe('an SMS in every language', () => {
  const link = 'https://consent.riverside.example/l/4XK9M2T7QP';
  const every = createPageRenderer(assets, 'examples/locales');
  const smsIn = (language: string, kind: MessageContent['kind']) => {
    const facts = kind === 'code' ? {} : { link, owners: [], minutes: 30 };
    const content = sampleMessage(kind, 'en', { channel: 'sms', ...facts });
    return every.renderMessage(content, { language, mail: null, brand: null }).text;
  };
  const plain = (text: string) => toGsm7(text) ?? text;

  it('with a code says for whom, how long it is valid, and a warning, in as many segments as documented', () => {
    const measured = new Map<string, string[]>();
    for (const language of every.languages.toSorted()) {
      const text = smsIn(language, 'code');
      const { t } = createReader(loadWords('examples/locales').pick(language), 'UTC', language);
      const sentences = ['Riverside Clinic', t('message.sms.life', { minutes: 10 }), t('message.sms.ignore')];
      for (const sentence of sentences) expect(plain(text), language).toContain(plain(sentence));
      const { encoding, segments } = measureSms(text);
      measured.set(`${encoding}, ${segments}`, [
        ...(measured.get(`${encoding}, ${segments}`) ?? []),
        language,
      ]);
    }
    const documented = new Map(
      Array.from(
        documents.matchAll(/^\| (GSM-7|UCS-2) \| (\d) \| ([a-z ]+) \|$/gm),
        ([, encoding, count, languages]) => [`${encoding}, ${count}`, languages?.split(' ') ?? []],
      ),
    );
    expect(measured).toEqual(documented);
  });

  it.each(['invitation', 'notification', 'choices'] as const)(
    'of kind %s takes one segment in GSM-7 and two in UCS-2, as documented',
    (kind) => {
      for (const language of every.languages) {
        const { encoding, segments } = measureSms(smsIn(language, kind));
        expect([language, segments]).toEqual([language, encoding === 'GSM-7' ? 1 : 2]);
      }
    },
  );

  it.each([
    ['invitation', 2],
    ['notification', 2],
    ['withdrawal', 2],
    ['choices', 2],
    ['campaign', 4],
  ] as const)('of kind %s with a short link fits in %i segments', (kind, most) => {
    for (const language of every.languages)
      expect([language, measureSms(smsIn(language, kind)).segments <= most]).toEqual([language, true]);
  });
});

describe('any other SMS', () => {
  it.each(messageKinds.filter((kind) => kind !== 'code'))(
    'of kind %s names the organisation and ends with the link',
    (kind) => {
      for (const language of sampleLanguages) {
        const content = sampleMessage(kind, language, { channel: 'sms', owners: [] });
        const { text } = renderer.renderMessage(content, { language, mail: null, brand: null });
        expect(text).toContain('Riverside Clinic');
        expect(text.split('\n').at(-1)).toBe(content.link);
      }
    },
  );
});
