import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import IntlMessageFormat from 'intl-messageformat';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { languagesIn, localesOf } from '#lib/pages/catalogues.ts';
import { lineWithoutUtf8, notUtf8 } from '#lib/text/utf8.ts';

type Messages = Readonly<Record<string, string>>;

/** A part of a message, as intl-messageformat parses it (ICU MessageFormat). */
interface Part {
  type: number;
  value?: string;
  pluralType?: Intl.PluralRuleType;
  options?: Record<string, { value: Part[] }>;
}

/**
 * What is wrong with the messages of a language (docs/languages.md).
 * @param given.isWhole whether the language has no other messages: then none may be missing.
 * @returns a sentence for each fault, which begins with the key of the message.
 */
export function catalogueFaults(
  own: Messages,
  { language, english, isWhole }: { language: string; english: Messages; isWhole: boolean },
): string[] {
  const needed = formsOf(language);
  const missing = isWhole ? Object.keys(english).filter((key) => !Object.hasOwn(own, key)) : [];
  return [
    ...missing.map((key) => `${key}: is missing`),
    ...Object.entries(own).flatMap(([key, text]) => {
      const original = english[key];
      if (original === undefined || !Object.hasOwn(english, key))
        return [`${key}: no page has such a message`];
      return messageFaults(text, { language, original, needed }).map((fault) => `${key}: ${fault}`);
    }),
  ];
}

function messageFaults(
  text: unknown,
  { language, original, needed }: { language: string; original: string; needed: readonly string[] },
): string[] {
  if (typeof text !== 'string' || text.trim() === '') return ['must be a text'];
  if (!/[{}<]/.test(text + original)) return [];
  let parts: Part[];
  try {
    parts = partsOf(text, language);
  } catch {
    return ['is no message: braces must come in pairs, and a plural needs the form "other"'];
  }
  const [found, wanted] = [placeholdersIn(parts), placeholdersIn(partsOf(original, 'en'))];
  return [
    ...wanted.filter((name) => !found.includes(name)).map((name) => `lacks {${name}}`),
    ...found.filter((name) => !wanted.includes(name)).map((name) => `has {${name}}, which is not filled in`),
    ...pluralsIn(parts).flatMap(({ options = {} }) =>
      needed.filter((form) => !options[form]).map((form) => `lacks the plural form "${form}"`),
    ),
  ];
}

const partsOf = (text: string, language: string) => new IntlMessageFormat(text, language).getAst() as Part[];

/** Names of all placeholders, those inside of plural forms included. */
function placeholdersIn(parts: readonly Part[]): string[] {
  const names = parts.flatMap((part) => [
    // Of the parts, plain text has the type 0, and "#" the type 7.
    ...(part.type > 0 && part.type < 7 && part.value ? [part.value] : []),
    ...placeholdersIn(innerOf(part)),
  ]);
  return [...new Set(names)].sort();
}

/** The plural parts, those inside of a choice included. */
function pluralsIn(parts: readonly Part[]): Part[] {
  return parts.flatMap((part) => [...(part.pluralType ? [part] : []), ...pluralsIn(innerOf(part))]);
}

const innerOf = ({ options = {} }: Part) => Object.values(options).flatMap(({ value }) => value);

/**
 * The plural forms of a language that whole numbers from 1 to 1,000 have: pages count neither fractions nor
 * millions, and 0 has the form "other" where no "=0" says more.
 */
function formsOf(language: string): string[] {
  const rules = new Intl.PluralRules(language);
  const numbers = Array.from({ length: 1_000 }, (_, index) => index + 1);
  return [...new Set(numbers.map((number) => rules.select(number)))];
}

/** The services with pages, which read messages. */
const readers: readonly string[] = ['forms', 'auth'];

/**
 * What is wrong with the messages that an organisation has of its own.
 * @param own LOCALES_DIR; undefined: none. @param product folder of the service's own messages.
 * @returns a sentence for each fault, which begins with the setting and the name of the file.
 */
export function localesFaults(own: string | undefined, service: string, product: URL): string[] {
  if (own === undefined) return [];
  if (!isFolder(own)) return [`LOCALES_DIR: must be a folder ("${own}" is none)`];
  try {
    const names = readdirSync(own);
    const files = readers.filter((name) => names.includes(name) && !isFolder(path.join(own, name)));
    if (files.length > 0) return [`LOCALES_DIR: ${files.join(' and ')} must be a folder, and is a file`];
    const [, folder] = localesOf(service, product, own);
    return [...unreadFaults(names), ...(folder ? filesFaults(folder, service, product) : [])];
  } catch (error) {
    const { code, path: place = own } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return [`LOCALES_DIR: ${place} cannot be read (${code})`];
  }
}

const isFolder = (name: string) => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;

/** A file beside the folders of the services, or a folder with another name, would change nothing. */
function unreadFaults(names: readonly string[]): string[] {
  const isRead = (name: string) => readers.includes(name) || name.startsWith('.') || name === 'README.md';
  const unread = names.filter((name) => !isRead(name));
  if (unread.length === 0) return [];
  return [`LOCALES_DIR: only the folders ${readers.join(' and ')} are read, and not ${unread.join(', ')}`];
}

function filesFaults(folder: URL, service: string, product: URL): string[] {
  const english = messagesIn('en.json', product);
  const known = new Set(languagesIn(product));
  return readdirSync(folder)
    .filter((file) => !file.startsWith('.'))
    .flatMap((file) => {
      const language = path.parse(file).name;
      const fault = (text: string) => `LOCALES_DIR: ${service}/${file}: ${text}`;
      if (!file.endsWith('.json') || canonicalLanguageTag(language) !== language)
        return [fault('must be named by a language, such as ca.json')];
      try {
        const bytes = readFileSync(new URL(file, folder));
        const line = lineWithoutUtf8(bytes);
        if (line !== undefined) return [fault(`line ${line} ${notUtf8}`)];
        const isWhole = !known.has(language);
        return catalogueFaults(JSON.parse(String(bytes)) as Messages, { language, english, isWhole }).map(
          fault,
        );
      } catch (error) {
        return [fault(`is not JSON (${(error as Error).message})`)];
      }
    });
}

function messagesIn(file: string, folder: URL): Messages {
  return JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Messages;
}
