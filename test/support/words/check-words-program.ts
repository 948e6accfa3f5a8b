/**
 * Checks the messages of pages: that every language has all of them, that each can be formatted, has the
 * plural forms of its language and the placeholders of English, that some page uses it, and that no page uses
 * another one; also those of examples/locales. Arabic is written as adults read it, without vowel marks: with
 * them a word is neither found in a page nor copied whole from a PDF. Part of `npm run lint`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { catalogueFaults, localesFaults } from '#lib/pages/catalogue-faults.ts';
import { languagesIn } from '#lib/pages/catalogues.ts';

const root = new URL('../../../', import.meta.url);

type Messages = Record<string, string>;

/**
 * Folders of messages, and those with the sources that use them. Those of the console are not known: its
 * fields, columns and states have their names from the operations of the API.
 */
const places: { locales: string; users?: readonly string[] }[] = [
  { locales: 'services/forms/locales/', users: ['services/forms', 'lib'] },
  { locales: 'services/auth/locales/', users: ['services/auth', 'lib'] },
  { locales: 'services/console/pages/locales/' },
  ...readdirSync(new URL('services/console/rooms/', root), { withFileTypes: true })
    .filter((each) => each.isDirectory())
    .map(({ name }) => ({ locales: `services/console/rooms/${name}/locales/` })),
];

const messagesIn = (locales: string, language: string): Messages =>
  JSON.parse(readFileSync(new URL(`${locales}${language}.json`, root), 'utf8'));

const faults = places.flatMap(({ locales, users }) => {
  const english = messagesIn(locales, 'en');
  const isUsed = users && usesIn(users);
  const unused = isUsed ? Object.keys(english).filter((key) => !isUsed(key)) : [];
  const wrong = languagesIn(new URL(locales, root)).flatMap((language) =>
    catalogueFaults(messagesIn(locales, language), { language, english, isWhole: true }).map(
      (fault) => `${locales}${language}.json: ${fault}`,
    ),
  );
  const marked = Object.entries(messagesIn(locales, 'ar'))
    .filter(([, text]) => /[\u064b-\u0652\u0670]/.test(text))
    .map(([key]) => `${locales}ar.json: ${key}: has vowel marks`);
  return [...unused.map((key) => `${locales}en.json: ${key}: no page uses it`), ...wrong, ...marked];
});
/** The messages that sources name whole, as `t('form.title')`, and that no catalogue has. */
const consoleLocales = places.filter(({ users }) => !users).map(({ locales }) => locales);
const unknown = [
  ...places.flatMap(({ locales, users = [] }) =>
    namedIn(
      users.filter((each) => each !== 'lib'),
      [locales],
    ),
  ),
  ...namedIn(['services/console'], consoleLocales),
];
faults.push(...unknown);

const example = fileURLToPath(new URL('examples/locales', root));
for (const service of ['forms', 'auth'])
  faults.push(...localesFaults(example, service, new URL(`services/${service}/locales/`, root)));

for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;

/**
 * @returns whether a source names a message: whole, as a template such as `purpose.${code}`, or as a group of
 * words.
 */
function usesIn(folders: readonly string[]): (key: string) => boolean {
  const text = folders.flatMap(sourcesIn).join('\n');
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);
  const whole = new Set(found(/['"`]([\w./-]+)['"`]/g));
  const groups = found(/word\w*\(\s*(?:\w+,\s*)?'([\w.]+)'/gi).map((group) => `${group}.`);
  const templates = found(/`([\w.-]*\$\{[^`]*?)`/g)
    .map((template) => template.split(/\$\{[^}]*\}/))
    .filter(
      (pieces) =>
        pieces.some((piece) => /[a-z]{2}/i.test(piece)) && pieces.every((piece) => /^[\w.-]*$/.test(piece)),
    )
    .map((pieces) => new RegExp(`^${pieces.map((piece) => piece.replaceAll('.', '\\.')).join('[\\w.-]+')}$`));
  return (key) =>
    whole.has(key) ||
    groups.some((group) => key.startsWith(group)) ||
    templates.some((template) => template.test(key));
}

function namedIn(folders: readonly string[], locales: readonly string[]): string[] {
  const known = new Set(locales.flatMap((each) => Object.keys(messagesIn(each, 'en'))));
  const calls = folders.flatMap(sourcesIn).flatMap((text) => [...text.matchAll(/\bt\(([^()]*)/g)]);
  const named = calls.flatMap(([, call = '']) => [...call.matchAll(/'([a-z]\w*(?:\.[\w-]+)+)'/g)]);
  return named
    .map(([, key = '']) => key)
    .filter((key) => !known.has(key))
    .map((key) => `${locales.join(', ')}: ${key}: is used and missing`);
}

function sourcesIn(folder: string): string[] {
  const files = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(ts|pug)$/.test(file) && !file.endsWith('.gen.ts'))
    .map((file) => readFileSync(new URL(path.join(folder, file), root), 'utf8'));
}
