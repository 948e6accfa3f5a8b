import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageContent, MessageKind } from '#lib/contracts/messages.ts';
import type { MailModel } from '../../services/forms/pages/message-parts.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { sampleLanguages } from '../support/samples/sample-content.ts';
import { messageKinds, sampleMail, sampleMessage } from '../support/samples/sample-messages.ts';

const cases = sampleLanguages.flatMap((language) => messageKinds.map((kind) => ({ language, kind })));
const builtIn = (kind: MessageKind, language: 'en' | 'fr' | 'ar', changes: Partial<MessageContent> = {}) =>
  renderer.renderMessage(sampleMessage(kind, language, changes), { language, mail: null, brand: null });
const ofModel = (mail: Partial<MailModel>, changes: Partial<MessageContent> = {}, language = 'en') =>
  renderer.renderMessage(sampleMessage('code', 'en', changes), {
    language,
    mail: { subject: 'S', body: 'B', ...mail },
    brand: null,
  });
const link = 'https://consent.riverside.example/consents/x?t=abc&u=1';
/** Without isolates and the line breaks at 72 columns. */
const flat = (text: string | null) => (text ?? '').replaceAll(/[\u2066-\u2069]/g, '').replaceAll(/\s+/g, ' ');

describe('a mail', () => {
  it.each(cases)(
    'of kind $kind in $language has its facts in plain text and in HTML',
    ({ kind, language }) => {
      const content = sampleMessage(kind, language);
      const { subject, text, html, language: used } = builtIn(kind, language);
      expect(used).toBe(language);
      for (const given of [flat(text), flat(parsePage(html ?? '').text())]) {
        expect(given).toContain('Riverside Clinic');
        if (content.link) expect(given).toContain(content.link);
        if (content.code) expect(given).toContain(content.code);
        if (content.until) expect(given).toContain('2025');
        if (kind === 'bad-news') expect(given).toContain('Recherche & statistiques');
        if (kind === 'invitation' || kind === 'notification') expect(given).toContain(content.purpose);
      }
      expect(subject).not.toBe('');
      expect(subject).not.toContain('042519');
    },
  );

  it.each(cases)(
    'of kind $kind in $language is written in that language and its direction',
    ({ kind, language }) => {
      const page = parsePage(builtIn(kind, language).html ?? '');
      expect(page.tagged('html')[0]?.attribs).toMatchObject({
        lang: language,
        dir: language === 'ar' ? 'rtl' : 'ltr',
      });
    },
  );

  it.each(cases)('of kind $kind in $language loads nothing and has inline styles', ({ kind, language }) => {
    expectNothingLoaded(builtIn(kind, language).html ?? '');
  });

  it('that tells of objections alone does not call them withdrawals', () => {
    const elements = [{ title: 'Post', lang: 'en' }];
    const objections = { peer: null, isObjection: true, elements };
    const { subject, text } = builtIn('withdrawal', 'en', { withdrawn: [objections] });
    expect(subject).toBe('Your objection at Riverside Clinic');
    expect(flat(text)).toContain('What you object to: * Post');
    expect(text).not.toMatch(/withdr|consent that/i);
    const both = builtIn('withdrawal', 'en', { withdrawn: [{ peer: null, elements }, objections] });
    expect(flat(both.text)).toMatch(/What was withdrawn: \* Post What you object to: \* Post/);
  });

  it('marks a title in another language', () => {
    const [item] = parsePage(builtIn('bad-news', 'ar').html ?? '').tagged('span');
    expect(item?.attribs).toMatchObject({ lang: 'fr', dir: 'ltr' });
  });

  it.each([
    ['en', 'could not be attached as a PDF'],
    ['fr', 'n’a pas pu être joint en PDF'],
    ['ar', 'تعذر إرفاق الإيصال'],
  ] as const)('says in %s that the receipt is not attached', (language, sentence) => {
    expect(flat(builtIn('notification', language).text)).not.toContain(sentence);
    const { text, html } = builtIn('notification', language, { isReceiptLeftOut: true });
    for (const given of [flat(text), flat(parsePage(html ?? '').text())]) expect(given).toContain(sentence);
  });

  it('says that all answers were lost, or which answers which peer did not store', () => {
    const late = [{ name: 'Northern Lab', late: true, elements: [] }];
    const { subject, text } = builtIn('bad-news', 'en', { owners: late });
    expect(subject).toBe('It is not certain that all your answers were saved');
    expect(flat(text)).toContain('Northern Lab did not confirm your answers in time');
    expect(flat(text)).not.toContain('Nothing was saved');
    expect(flat(builtIn('bad-news', 'en', { owners: [] }).text)).toContain('have not taken effect there');
    const owners = [{ name: 'Lab', elements: [] }];
    expect(flat(builtIn('bad-news', 'en', { owners }).text)).toContain(
      'Nothing was saved at Lab. The page behind the button shows',
    );
  });

  it('shows the alternative text of the logo above the text', () => {
    const content = sampleMessage('invitation', 'en');
    const { html } = renderer.renderMessage(content, { language: 'en', mail: null, brand: 'The Riverside' });
    const page = parsePage(html ?? '');
    expect(page.text(page.tagged('body')[0])).toMatch(/^The RiversideYour consent/);
    expectNothingLoaded(html ?? '');
  });

  it('is in English where there is no catalogue', () => {
    const content = sampleMessage('code', 'en');
    const { language, html } = renderer.renderMessage(content, { language: 'sw', mail: null, brand: null });
    expect(language).toBe('en');
    expect(html).toContain('<html lang="en"');
  });
});

describe('a mail from a model', () => {
  const mail = (changes: Partial<MessageContent> = {}) =>
    renderer.renderMessage(sampleMessage('code', 'en', { link, ...changes }), {
      language: 'en',
      mail: sampleMail,
      brand: null,
    });

  it('has every part of the model, and the values in place of the placeholders', () => {
    const { subject, text } = mail();
    expect(subject).toBe('A message of Riverside Clinic');
    const flatText = flat(text);
    for (const part of [
      'Dear patient of Riverside Clinic',
      'Your code is 042519, good for 10 minutes; {other} and {} are text.',
      `or ${link}`,
      `To Riverside Clinic ${link}`,
      'Yours, Riverside Clinic',
      '8 Quai des Tisserands',
    ])
      expect(flatText).toContain(part);
    expect(flatText).not.toContain('The code is valid');
  });

  it('has its link behind {link}, and links to nothing else but https', () => {
    const links = parsePage(mail().html ?? '')
      .tagged('a')
      .map(({ attribs }) => attribs.href);
    expect(links).toEqual([link, 'https://riverside.example/help', link, link]);
    expect(flat(mail().text)).toContain(
      'an old page (http://riverside.example/old), our officer (privacy@riverside.example).',
    );
  });

  it('has no link behind {link} when there is none', () => {
    const page = parsePage(mail({ link: null }).html ?? '');
    expect(page.tagged('a').map(({ attribs }) => attribs.href)).toEqual(['https://riverside.example/help']);
    expect(page.text()).toContain('your form');
  });

  it('never puts the link into the query of another site', () => {
    const { html } = ofModel({ body: '<a href="https://evil.example/?u={link}">x</a>' }, { link });
    const links = parsePage(html ?? '')
      .tagged('a')
      .map(({ attribs }) => attribs.href);
    expect(links.filter((href) => href?.startsWith('https://evil'))).toEqual([
      'https://evil.example/?u={link}',
    ]);
  });

  it.each([
    'Enter the code.',
    'Enter {Code} or { code }.',
    'Enter {co<b>de}</b>.',
    '<a href="https://riverside.example/?{code}">Enter</a> the code.',
  ])('shows the code although it only says %s', (body) => {
    const { text, html } = ofModel(
      { body, subject: 'Code {code}', title: 'Hello' },
      { link: `${link}042519` },
    );
    expect(text).toMatch(/^042519$/m);
    expect(text).toContain('The code is valid for 10 minutes.');
    expect(parsePage(html ?? '').text()).toContain('042519');
  });

  it('has a button with the built-in label if the model has none', () => {
    const { text } = renderer.renderMessage(sampleMessage('notification', 'en'), {
      language: 'en',
      mail: { subject: 'S', body: 'B' },
      brand: null,
    });
    expect(text).toContain('See my receipt\nhttps://');
  });

  it('marks built-in texts in a language without a catalogue', () => {
    const { html, language } = ofModel({ body: 'Guten Tag' }, { link }, 'sw');
    expect(language).toBe('sw');
    const page = parsePage(html ?? '');
    expect(page.tagged('html')[0]?.attribs).toMatchObject({ lang: 'sw', dir: 'ltr' });
    expect(page.tagged('p').filter(({ attribs }) => attribs.lang === 'en')).toHaveLength(2);
  });
});

describe('hostile texts', () => {
  const hostile = fc.oneof(
    fc.constantFrom(
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      '</title><style>*{background:url(https://evil.example)}</style>',
      '{link}{code}{organisation}',
      '{count, plural, other {#}}',
      '#{process.exit()}',
      '&lt;script&gt;',
      'a\r\nBcc: all@evil.example',
      '\u202e\u2066evil\u2069',
      '\ud800',
      '',
    ),
    fc.string({ minLength: 1, unit: 'binary' }),
  );

  it.each(cases)('change no structure of a mail of kind $kind in $language', ({ kind, language }) => {
    const skeletonOf = (text: string) => {
      const owners = [{ name: text, elements: [{ title: text, lang: 'en' }] }];
      const { html, subject } = builtIn(kind, language, {
        organisation: text,
        purpose: `x${text}`,
        ...(kind === 'bad-news' && { owners }),
      });
      expect(subject).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      // Isolates are those around names in a language from right to left, and closed.
      expect(subject?.replaceAll(/\u2068[^\u2066-\u2069]*\u2069/g, '')).not.toMatch(/[\u2066-\u2069]/);
      return parsePage(html ?? '').skeleton;
    };
    const expected = skeletonOf('x');
    fc.assert(
      fc.property(hostile, (text) => {
        expect(skeletonOf(text)).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it('in the subject line of a model keep no order of their own, in any language', () => {
    const turned = 'a\u202eb\u2066c\u2067d\u2069\u202a';
    for (const language of ['en', 'ar']) {
      const given = { subject: `${turned} {organisation}`, title: turned, body: `<p>${turned}</p>` };
      const { subject, text } = ofModel(given, { organisation: turned }, language);
      expect(subject).toBe('abcd abcd');
      expect(text).toContain('abcd');
      expect(text).not.toMatch(/[\u202a-\u202e\u2066\u2067]/);
    }
  });

  it('in a model become neither links nor markup', () => {
    const { html, subject } = ofModel(
      {
        subject: '{organisation}',
        body: '<p>{organisation}</p><a href="javascript:alert(1)">x</a><img src="https://evil.example/p.gif"><style>p{}</style>',
      },
      { organisation: '<b>{code}</b>\n{link}' },
    );
    expect(subject).toBe('<b>{code}</b> {link}');
    expectNothingLoaded(html ?? '');
    expect(parsePage(html ?? '').tagged('b')).toEqual([]);
  });
});

function expectNothingLoaded(html: string): void {
  const page = parsePage(html);
  expect(html).not.toMatch(/url\(|@import|@font-face/);
  for (const { name, attribs } of page.elements) {
    expect([
      'img',
      'link',
      'script',
      'iframe',
      'object',
      'video',
      'audio',
      'base',
      'form',
      'input',
    ]).not.toContain(name);
    for (const attribute of ['src', 'srcset', 'background', 'poster', 'data', 'ping'])
      expect(attribs[attribute]).toBeUndefined();
    if (['body', 'h1', 'p', 'a'].includes(name)) expect(attribs.style, name).toBeTruthy();
    expect(Object.keys(attribs).filter((attribute) => attribute.startsWith('on'))).toEqual([]);
    if (name === 'table') expect(attribs.role).toBe('presentation');
  }
}
