import { isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { FormElement, FormPeer } from '#lib/contracts/form-content.ts';
import type { DescribedElement, DescribedInformation, DescribedPeer } from '#lib/contracts/forms.ts';
import type { ColorScheme, PageTheme } from '#lib/contracts/page-base.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { formatIdentifier, formatReference } from './identifiers.ts';
import { contentIn, type ModelType, type VersionData } from './model.ts';

/** An activated version as it is stored. */
export interface StoredVersion {
  id: string;
  type: ModelType;
  key: string;
  /** The peer's host; absent for our own. */
  host?: string;
  serial: string;
  defaultLanguage: string;
  data: VersionData;
}

export type DescribedItem = DescribedInformation | DescribedElement;

/**
 * An activated version, ready for forms. Its content never changes, so derived values are kept with it and
 * shared between requests (frozen).
 */
export interface ContentVersion extends StoredVersion {
  identifier: string;
  languages: string[];
  /** The language of the content for a form in `language`: by lookup, else the version's default. */
  languageFor(language: string): string;
  /**
   * The item as forms describe it.
   * @param name the entry's current name.
   * @param owner the peer's current name; null for our own.
   */
  describe(language: string, name: string, owner?: string | null): DescribedItem;
  /**
   * The position of an option by its text in any language; undefined if there is no such option
   * (docs/interface.md).
   */
  positionOf(text: string): number | undefined;
}

export function createContentVersion(stored: StoredVersion): ContentVersion {
  const { data, defaultLanguage } = deepFreeze(stored);
  const languages = Object.keys(data);
  const languageByRequest = new Map<string, string>();
  const items = new Map<string, DescribedItem>();
  let positions: Map<string, number> | undefined;
  const reference = formatReference({ key: stored.key, host: stored.host ?? null });
  const identifier = formatIdentifier(stored.type, reference, stored.serial);

  function languageFor(language: string): string {
    const known = languageByRequest.get(language);
    if (known) return known;
    const found = lookupLanguage([language], languages) ?? defaultLanguage;
    if (languageByRequest.size < 100) languageByRequest.set(language, found);
    return found;
  }
  return {
    ...stored,
    identifier,
    languages,
    languageFor,
    describe(language, name, owner = null) {
      const lang = languageFor(language);
      const known = items.get(lang);
      if (known?.entry.name === name && known.owner === owner) return known;
      const item = deepFreeze({ ...describeItem(stored, identifier, lang, name), owner });
      items.set(lang, item);
      return item;
    },
    positionOf(text) {
      positions ??= positionsOf([data[defaultLanguage], ...Object.values(data)]);
      return positions.get(text);
    },
  };
}

function describeItem(
  { type, key, serial, data }: StoredVersion,
  identifier: string,
  lang: string,
  name: string,
): DescribedItem {
  const stored = data[lang] ?? {};
  return {
    identifier,
    serial,
    entry: { key, type, name },
    content: { lang, ...contentIn<Omit<DescribedItem['content'], 'lang'>>(data, lang) },
    answers: allowedAnswers(type, stored),
    required: type !== 'information' && stored.optional !== true && !mayBeLeftOut(identifier, stored),
    multiple: stored.valueType === 'CHECKBOXES' || stored.valueType === 'LIST_MULTI',
  } as DescribedItem;
}

/** Notices, and objections: who leaves them out has been told. */
function mayBeLeftOut(identifier: string, content: object): boolean {
  return isNotice(identifier, content) || isObjection(content);
}

/** The allowed answers: `accepted` or `refused`, the options, or null for free text and for information. */
function allowedAnswers(type: ModelType, content: Record<string, unknown>): string[] | null {
  if (type === 'preference') return content.valueType === 'FREE_TEXT' ? null : (content.options as string[]);
  if (type !== 'processing' && type !== 'conditions') return null;
  return content.refusable === false ? ['accepted'] : ['accepted', 'refused'];
}

/** If languages use one text for different positions, the default language decides. */
function positionsOf(contents: (VersionData[string] | undefined)[]): Map<string, number> {
  const positions = new Map<string, number>();
  for (const content of contents)
    for (const [position, option] of ((content?.options ?? []) as string[]).entries())
      if (!positions.has(option)) positions.set(option, position);
  return positions;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

/**
 * A peer's section of a form as pages show it: without earlier answers, which only the peer has
 * (docs/federation.md).
 */
export function presentPeer({ info, elements, ...peer }: DescribedPeer): FormPeer {
  return {
    ...peer,
    info: info && { ...info, previous: null },
    elements: elements.map((element) => ({ ...element, previous: null }) as FormElement),
  };
}

/** A theme as pages use it. This instance serves its style sheet and logo. */
export function pageTheme({ key, serial, data, languageFor }: ContentVersion, language: string): PageTheme {
  const { logoPath, logoAltText, logoPosition, colorScheme } = (data[languageFor(language)] ?? {}) as {
    logoPath?: string;
    logoAltText?: string;
    logoPosition?: 'LEFT' | 'CENTER' | 'RIGHT';
    colorScheme?: ColorScheme;
  };
  const logo = logoPath ? { url: logoPath, alt: logoAltText ?? '', position: logoPosition ?? 'LEFT' } : null;
  return { key, serial, logo, ...(colorScheme && { colorScheme }) };
}
