import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ErrorPage, ReceiptPage, ResultPage } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { demoModels } from '../../services/forms/demo/models.ts';
import type { Drawn } from '../../services/forms/pages/page-model.ts';
import { readTemplates } from '../../services/forms/templates/templates.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { samplePages } from '../support/pages/sample-pages.ts';

const models = demoModels();
const { forms, information } = readTemplates();
const templates = [...forms, information, ...forms.flatMap(({ elements }) => elements)];

/** Every text that people read in a language: of both services' pages, of the demonstration, of templates. */
function textsIn(language: 'fr' | 'ar'): [where: string, text: string][] {
  const catalogues = ['forms', 'auth'].flatMap((service) => {
    const url = new URL(`../../services/${service}/locales/${language}.json`, import.meta.url);
    return Object.entries(JSON.parse(readFileSync(url, 'utf8')) as Record<string, string>);
  });
  const content = models.flatMap(({ key, data }) =>
    leaves(data[language]).map((text) => [key, text] as const),
  );
  const offered = templates.flatMap((template) =>
    leaves([template.texts[language], 'data' in template && template.data[language]]).map(
      (text) => [template.key, text] as const,
    ),
  );
  return [...catalogues, ...content, ...offered].map(([where, text]) => [
    where,
    text.replaceAll(/<[^>]*>/g, ''),
  ]);
}

function leaves(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [];
}

const isProse = ([, text]: [string, string]) => !/^\w+:\/\/|^[\w.]+@|^\.accord/.test(text);

describe('French texts', () => {
  const texts = textsIn('fr').filter(isProse);

  it('have a narrow no-break space before ; ? and !, and a no-break space before a colon', () => {
    const faulty = texts.filter(
      ([, text]) => /[^\u202f][;?!]/u.test(text) || /[^\u00a0]:(?=\s|$)/u.test(text.replace(/\n/g, ' ')),
    );
    expect(faulty).toEqual([]);
    expect(texts.filter(([, text]) => /[;?!]/.test(text)).length).toBeGreaterThan(5);
  });

  it('have typographic apostrophes', () => {
    expect(texts.filter(([, text]) => /[a-zàâéèêîôû]'/i.test(text))).toEqual([]);
  });
});

describe('Arabic texts', () => {
  const texts = textsIn('ar');

  it('use one word for a form, and none that reads as "university" for who collects', () => {
    expect(texts.filter(([, text]) => /استمار|الجهة الجامعة/.test(text))).toEqual([]);
  });

  it('treat an organisation as feminine wherever its name stands', () => {
    const masculine =
      /(^|[\s،])(استلمها|قبلها|يقبلها|يستطيع) .*\{owner\}|\{owner\}.*(وينتظر|لديه(?!ا)|وحفظها)/;
    expect(texts.filter(([, text]) => masculine.test(text))).toEqual([]);
  });

  it('have Arabic punctuation', () => {
    expect(texts.filter(isProse).filter(([, text]) => /[\u0600-\u06ff]\s?[,;?]/.test(text))).toEqual([]);
  });
});

describe('a piece in another language than its page', () => {
  const english = /[A-Za-z]{3}/;
  /** Texts of the page that stand in English, with the language and direction in force where they stand. */
  function languagesOf(html: string, pieces: readonly string[]): (string | undefined)[] {
    const page = parsePage(html);
    return pieces.map((piece) => {
      const holders = page.elements.filter((element) => page.text(element) === piece);
      let node: (typeof holders)[number]['parent'] | (typeof holders)[number] | undefined = holders.at(-1);
      while (node && 'attribs' in node && !node.attribs.lang) node = node.parent ?? undefined;
      return node && 'attribs' in node ? `${node.attribs.lang} ${node.attribs.dir}` : undefined;
    });
  }

  it('is marked on the final page', () => {
    const committed = samplePages('ar').committed as Drawn<ResultPage>;
    const { receipt, asked } = samplePages('en').committed as Drawn<ResultPage>;
    const { consents, information } = receipt as ReceiptBody;
    const dataController = { company: 'Harbour Museum', info: 'Ask for Claire Morel' };
    const texts = { ...information.texts, dataController };
    const { child: _child, ...links } = committed.transaction.links ?? { subject: '' };
    const html = renderer.render({
      ...committed,
      receipt: { ...(receipt as ReceiptBody), information: { ...information, lang: 'en', texts } },
      asked,
      transaction: { ...committed.transaction, links },
    });
    const pieces = [
      ...consents.flatMap(({ type, texts, answer }) => [
        String(texts.title ?? texts.label),
        ...(type === 'preference' ? answer : []),
      ]),
      'Harbour Museum',
      'Ask for Claire Morel',
    ];
    expect(pieces.every((piece) => english.test(piece))).toBe(true);
    expect(new Set(languagesOf(html, pieces))).toEqual(new Set(['en ltr']));
  });

  it('is marked on the receipt', () => {
    const arabic = samplePages('ar').receipt as Drawn<ReceiptPage>;
    const { receipt } = samplePages('en').receipt as ReceiptPage;
    const information = { ...receipt.information, lang: 'en' };
    information.texts = { ...information.texts, dataController: { company: 'Harbour Museum' } };
    const html = renderer.render({
      ...arabic,
      receipt: { ...receipt, language: 'ar', information, jurisdiction: 'Law of the sea' },
    });
    const options = receipt.consents.flatMap(({ type, options }) => (type === 'preference' ? options : []));
    const titles = receipt.consents.map(({ texts }) => String(texts.title ?? texts.label));
    const pieces = [...options, ...titles, 'Harbour Museum', 'Law of the sea'];
    expect(new Set(languagesOf(html, pieces))).toEqual(new Set(['en ltr']));
  });
});

it.each([
  ['en', 30, 'Try again in 30 seconds.'],
  ['en', 600, 'Try again in 10 minutes.'],
  ['en', 80_000, 'Try again in 23 hours.'],
  ['fr', 3_600, 'Réessayez dans 60 minutes.'],
  ['ar', 7_200, 'حاول مرة أخرى بعد ساعتين.'],
] as const)(
  'an error page says when to try again in a usual unit (%s, %i s)',
  (language, retryAfter, text) => {
    const sample = samplePages(language)['error-too-many'] as Drawn<ErrorPage>;
    expect(parsePage(renderer.render({ ...sample, retryAfter })).text()).toContain(text);
  },
);
