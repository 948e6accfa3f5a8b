import { hash } from 'node:crypto';
import type { FormElement } from '#lib/contracts/form-content.ts';
import type {
  DescribedElement,
  DescribedInformation,
  DescribedPeer,
  FormDescription,
  FormOutline,
  FormsOperations,
  LayoutTexts,
  PinnedLayout,
} from '#lib/contracts/forms.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { ActiveItem } from '../domain/check-answers.ts';
import { pageTheme, presentPeer } from '../domain/content-version.ts';
import type { FormsContext } from './context.ts';
import { type CurrentForm, readForm } from './read-form.ts';
import type { PeerSection } from './read-peer-sections.ts';

/** The internal operation `describeForm`. Described items are frozen and shared between requests. */
export async function describeForm(
  context: FormsContext,
  { layout, languages }: { layout: PinnedLayout; languages: string[] },
): Promise<FormDescription> {
  const current = await readForm(context, layout, languages);
  const { language, info, elements, peers, theme, active } = current;
  const described = peers.map((part) => describePeer(part, language));
  return {
    revision: revisionOf(current),
    language,
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

/**
 * The revision of a form: it changes with everything that the description depends on, except the layout and
 * the requested languages.
 */
function revisionOf({ language, info, elements, peers, theme, active }: CurrentForm): string {
  const own = [info, ...elements.values(), theme].map(idAndName);
  const parts = peers.map((part) => [
    ...[part.url, part.name, part.asOf],
    ...[part.info, ...part.elements.values()].map(idAndName),
  ]);
  const versions = Object.entries(active).sort(([one], [other]) => (one < other ? -1 : 1));
  return hash('sha256', JSON.stringify([language, own, parts, versions]), 'base64url');
}

/** What identifies a described item: a version's content never changes, but the name of its entry can. */
function idAndName(item: ActiveItem | undefined): readonly string[] {
  return item ? [item.version.id, item.name] : [];
}

/**
 * The internal operation `renderForm`. It runs one query, as `describeForm` does, and passes the cached items
 * to the renderer, which reuses their cached views.
 */
export async function renderForm(
  context: FormsContext,
  { layout, languages, revision, page }: Parameters<FormsOperations['renderForm']>[0],
): Promise<{ html: string | null }> {
  const description = await describeForm(context, { layout, languages });
  if (description.revision !== revision) return { html: null };
  return { html: await context.renderer.renderInTurns(formPage(page, layout, description)) };
}

function formPage(page: FormOutline, layout: PinnedLayout, description: FormDescription): FormPage {
  const { language, theme, texts, info, elements, peers } = description;
  const described = new Map(elements.map((element) => [element.identifier, element]));
  return {
    ...page,
    language,
    theme,
    info: { ...info, previous: null },
    elements: page.elements.flatMap(({ identifier, previous }) => {
      const element = described.get(identifier);
      return element ? [{ ...element, previous } as FormElement] : [];
    }),
    peers: peers.map(presentPeer),
    layout: { ...layout, ...texts },
  };
}
