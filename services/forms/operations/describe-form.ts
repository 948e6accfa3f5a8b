import { hash } from 'node:crypto';
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
import type { CurrentForm, ReadForm } from './read-form.ts';
import type { PeerPart } from './read-peer-parts.ts';

/** The internal operation `describeForm`. Described items are frozen and shared between requests. */
export function createDescribeForm({ readForm }: { readForm: ReadForm }) {
  return async ({
    layout,
    languages,
  }: {
    layout: PinnedLayout;
    languages: string[];
  }): Promise<FormDescription> => {
    const current = await readForm(layout, languages);
    const { language, info, elements, peers, theme, active } = current;
    const own = Array.from(
      elements.values(),
      ({ version, name }) => version.describe(language, name) as DescribedElement,
    );
    const described = peers.map((part) => describePeer(part, language));
    return {
      revision: revisionOf(current),
      language,
      info: info.version.describe(language, info.name) as DescribedInformation,
      elements: [...own, ...inLayoutOrder(layout.elements, peers, described)],
      peers: described,
      theme: theme ? pageTheme(theme.version, language) : null,
      texts: textsIn(layout.texts, language),
      active,
    };
  };
}

function describePeer({ url, name: owner, info, elements, asOf }: PeerPart, language: string): DescribedPeer {
  return {
    name: owner,
    location: url,
    info: info.version.describe(language, info.name, owner) as DescribedInformation,
    elements: Array.from(
      elements.values(),
      ({ version, name }) => version.describe(language, name, owner) as DescribedElement,
    ),
    ...(asOf && { asOf: asOf.toISOString() }),
  };
}

/** Peers' elements in layout order; `peers` lists them by peer. */
function inLayoutOrder(
  references: readonly string[],
  parts: readonly PeerPart[],
  described: readonly DescribedPeer[],
): DescribedElement[] {
  const byReference = new Map(
    parts.flatMap(({ elements }, peer) =>
      Array.from(
        elements.keys(),
        (reference, index) => [reference, described[peer]?.elements[index]] as const,
      ),
    ),
  );
  return references.flatMap((reference) => byReference.get(reference) ?? []);
}

/** `*` holds the texts of the layout's default language, or those of an inline layout. */
function textsIn(texts: PinnedLayout['texts'], language: string): LayoutTexts {
  const found = lookupLanguage([language], Object.keys(texts));
  return (found === undefined ? texts['*'] : texts[found]) ?? {};
}

/**
 * The revision of a form: it changes with everything that the description depends on, except the layout and
 * the requested languages.
 */
function revisionOf({ language, info, elements, peers, theme, active }: CurrentForm): string {
  const own = [info, ...elements.values(), theme].map(shown);
  const parts = peers.map((part) => [
    ...[part.url, part.name, part.asOf],
    ...[part.info, ...part.elements.values()].map(shown),
  ]);
  const versions = Object.entries(active).sort(([one], [other]) => (one < other ? -1 : 1));
  return hash('sha256', JSON.stringify([language, own, parts, versions]), 'base64url');
}

/** A version's content never changes; the name of its entry can. */
function shown(item: ActiveItem | undefined): readonly string[] {
  return item ? [item.version.id, item.name] : [];
}
