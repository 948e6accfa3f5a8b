import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { problemStatus } from '#lib/http/problem.ts';
import { catalogueFaults, localesFaults } from '#lib/pages/catalogue-faults.ts';
import { languagesIn, loadCatalogues, localesOf } from '#lib/pages/catalogues.ts';

const services = new URL('../../services/', import.meta.url);
const forms = new URL('forms/locales/', services);
const auth = new URL('auth/locales/', services);
/** Folders with words of the console. */
const console = [
  new URL('console/pages/locales/', services),
  ...readdirSync(new URL('console/rooms/', services), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => new URL(`console/rooms/${name}/locales/`, services)),
];

const messagesIn = (folder: URL, language: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8'));

describe('the words of pages', () => {
  it('exist in the same languages on the pages of people and of the sign-in, and in all rooms of the console', () => {
    expect(languagesIn(auth)).toEqual(languagesIn(forms));
    for (const folder of console) expect(languagesIn(folder), folder.pathname).toEqual(['ar', 'en', 'fr']);
  });

  it.each(
    [forms, auth, ...console].map((folder) => [folder.pathname.split('/services/')[1], folder] as const),
  )(
    'of %s are whole in every language, with its plural forms and the placeholders of English',
    (_, folder) => {
      const english = messagesIn(folder, 'en');
      for (const language of languagesIn(folder))
        expect(
          catalogueFaults(messagesIn(folder, language), { language, english, isWhole: true }),
          language,
        ).toEqual([]);
    },
  );

  it('have a title and an advice for every problem', () => {
    const english = messagesIn(forms, 'en');
    for (const code of Object.keys(problemStatus)) {
      expect(english[`error.${code}.title`], code).toBeTruthy();
      expect(english[`error.${code}.text`], code).toBeTruthy();
    }
  });

  it('are looked up by RFC 4647, and fall back to English', () => {
    const { pick } = loadCatalogues(forms);
    expect(pick('fr-CA').language).toBe('fr');
    expect(pick('AR-eg').language).toBe('ar');
    expect(pick('tlh', 'fr').language).toBe('fr');
    expect(pick('tlh').language).toBe('en');
    expect(pick('not a tag').language).toBe('en');
  });
});

describe('a fault of a message is named: one that', () => {
  const english = {
    plain: 'Yes',
    hello: 'Hello {name}',
    count: '{count, plural, one {One} other {# things}}',
  };
  const faultsOf = (own: object, language = 'pl') =>
    catalogueFaults(own as Record<string, string>, { language, english, isWhole: false });

  it.each([
    ['is unknown', { hallo: 'Cześć' }, ['hallo: no page has such a message']],
    [
      'has the name of what every object has',
      { constructor: 'x' },
      ['constructor: no page has such a message'],
    ],
    ['is no text', { plain: 1 }, ['plain: must be a text']],
    ['is empty', { plain: ' ' }, ['plain: must be a text']],
    ['cannot be formatted', { hello: 'Cześć {name' }, [expect.stringMatching(/^hello: is no message/)]],
    ['loses a placeholder', { hello: 'Cześć' }, ['hello: lacks {name}']],
    ['invents one', { plain: 'Tak, {name}' }, ['plain: has {name}, which is not filled in']],
    [
      'lacks plural forms',
      { count: '{count, plural, one {Jedna} other {# rzeczy}}' },
      ['count: lacks the plural form "many"', 'count: lacks the plural form "few"'],
    ],
  ])('%s', (_, own, faults) => {
    expect(faultsOf(own).toSorted()).toEqual(faults.toSorted());
  });

  it('is missing in a language that has no other messages', () => {
    expect(catalogueFaults({ plain: 'Tak' }, { language: 'pl', english, isWhole: true })).toEqual([
      'hello: is missing',
      'count: is missing',
    ]);
  });
});

describe('words of an organisation (LOCALES_DIR)', () => {
  const own = mkdtempSync(path.join(tmpdir(), 'accord-locales-'));
  const write = (file: string, content: unknown) =>
    writeFileSync(path.join(own, file), typeof content === 'string' ? content : JSON.stringify(content));
  beforeAll(() => mkdirSync(path.join(own, 'forms')));
  afterAll(() => rmSync(own, { recursive: true }));

  it('add a language and replace a sentence', () => {
    cpSync(new URL('fr.json', forms), path.join(own, 'forms', 'oc.json'));
    write('forms/fr.json', { 'processing.refuse': 'Non merci' });
    expect(localesFaults(own, 'forms', forms)).toEqual([]);
    const { languages, pick } = loadCatalogues(...localesOf('forms', forms, own));
    expect(languages).toContain('oc');
    expect(pick('oc').language).toBe('oc');
    expect(pick('fr').format('processing.refuse')).toBe('Non merci');
    expect(pick('fr').format('processing.accept')).toBe(messagesIn(forms, 'fr')['processing.accept']);
    // A service without a folder of its own has its usual words.
    expect(localesFaults(own, 'auth', auth)).toEqual([]);
    expect(localesOf('auth', auth, own)).toEqual([auth]);
  });

  it('have an example without a fault, in which a person reads Catalan', () => {
    const example = path.join(import.meta.dirname, '..', '..', 'examples', 'locales');
    expect(localesFaults(example, 'forms', forms)).toEqual([]);
    expect(localesFaults(example, 'auth', auth)).toEqual([]);
    const { pick } = loadCatalogues(...localesOf('forms', forms, example));
    expect(pick('ca-ES').format('form.submit')).toBe('Envia les meves decisions');
  });

  it('are checked at the start, with a sentence for each fault', () => {
    write('forms/oc.json', { 'processing.refuse': 'Non' });
    write('forms/fr.json', { 'processing.refuze': 'Non' });
    write('forms/not a language.json', {});
    write('forms/ca.json', '{"processing.refuse": ');
    write('forms/readme.txt', 'Hello');
    writeFileSync(path.join(own, 'forms', 'de.json'), Buffer.from('{\n"a": "\xfc"}', 'latin1'));
    const faults = localesFaults(own, 'forms', forms);
    for (const fault of [
      'LOCALES_DIR: forms/oc.json: processing.accept: is missing',
      'LOCALES_DIR: forms/fr.json: processing.refuze: no page has such a message',
      'LOCALES_DIR: forms/not a language.json: must be named by a language, such as ca.json',
      'LOCALES_DIR: forms/de.json: line 2 has bytes that are not UTF-8',
      'LOCALES_DIR: forms/readme.txt: must be named by a language, such as ca.json',
    ])
      expect(faults).toContain(fault);
    expect(faults.find((each) => each.startsWith('LOCALES_DIR: forms/ca.json: is not JSON'))).toBeTruthy();
    for (const name of ['nowhere', 'forms/readme.txt'])
      expect(localesFaults(path.join(own, name), 'forms', forms), name).toEqual([
        expect.stringMatching(/^LOCALES_DIR: must be a folder/),
      ]);
  });

  it('are read from the folders of the services alone: what else is there is named at the start, in one sentence', () => {
    const other = mkdtempSync(path.join(tmpdir(), 'accord-locales-'));
    onTestFinished(() => rmSync(other, { recursive: true }));
    for (const folder of ['auth', 'form', 'console', '.git']) mkdirSync(path.join(other, folder));
    for (const file of ['ca.json', 'README.md']) writeFileSync(path.join(other, file), '{}');
    for (const [service, product] of [
      ['forms', forms],
      ['auth', auth],
    ] as const)
      expect(localesFaults(other, service, product)).toEqual([
        'LOCALES_DIR: only the folders forms and auth are read, and not ca.json, console, form',
      ]);
    for (const [service, product] of [
      ['forms', forms],
      ['auth', auth],
    ] as const) {
      rmSync(path.join(other, 'auth'), { recursive: true, force: true });
      writeFileSync(path.join(other, 'auth'), '{}');
      expect(localesFaults(other, service, product)).toEqual([
        'LOCALES_DIR: auth must be a folder, and is a file',
      ]);
    }
    const mounted = path.join(import.meta.dirname, '..', '..', 'deploy', 'locales');
    expect(localesFaults(mounted, 'forms', forms)).toEqual([]);
  });
});
