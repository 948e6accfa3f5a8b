import type {
  DescribedElement,
  DescribedInformation,
  DescribedPeer,
  FormDescription,
  LayoutTexts,
  PinnedLayout,
} from '#lib/contracts/forms.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { ActiveItem } from '../domain/check-answers.ts';
import { pageTheme } from '../domain/content-version.ts';
import type { FormsContext } from './context.ts';
import { readForm } from './read-form.ts';
import type { PeerSection } from './read-peer-sections.ts';

/** The internal operation `describeForm`. Described items are frozen and shared between requests. */
export async function describeForm(
  context: FormsContext,
  { layout, languages }: { layout: PinnedLayout; languages: string[] },
): Promise<FormDescription> {
  const {
    language,
    languages: complete,
    info,
    elements,
    peers,
    theme,
    active,
  } = await readForm(context, layout, languages);
  const described = peers.map((part) => describePeer(part, language));
  return {
    language,
    languages: complete,
    info: info.version.describe(language, info.name) as DescribedInformation,
    elements: [...describeElements(elements, language), ...inLayoutOrder(layout.elements, peers, described)],
    peers: described,
    theme: theme ? pageTheme(theme.version, language) : null,
    texts: textsIn(layout.texts, language),
    active,
  };
}

function describeElements(elements: ReadonlyMap<string, ActiveItem>, language: string): DescribedElement[] {
  return Array.from(
    elements.values(),
    ({ version, name, owner }) => version.describe(language, name, owner) as DescribedElement,
  );
}

function describePeer({ url, name, info, elements, asOf }: PeerSection, language: string): DescribedPeer {
  return {
    name,
    location: url,
    info: info.version.describe(language, info.name, name) as DescribedInformation,
    elements: describeElements(elements, language),
    ...(asOf && { asOf: asOf.toISOString() }),
  };
}

/** Peers' elements in layout order. @param described the described sections, in the order of `sections`. */
function inLayoutOrder(
  references: readonly string[],
  sections: readonly PeerSection[],
  described: readonly DescribedPeer[],
): DescribedElement[] {
  const keys = sections.flatMap(({ elements }) => [...elements.keys()]);
  const elements = described.flatMap((peer) => peer.elements);
  const byReference = new Map(keys.map((key, index) => [key, elements[index]]));
  return references.flatMap((reference) => byReference.get(reference) ?? []);
}

/** `*` holds the texts of the layout's default language, or those of an inline layout. */
function textsIn(texts: PinnedLayout['texts'], language: string): LayoutTexts {
  const found = lookupLanguage([language], Object.keys(texts));
  return (found === undefined ? texts['*'] : texts[found]) ?? {};
}
