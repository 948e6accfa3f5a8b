import type { FormElement, FormPeer } from '#lib/contracts/form-content.ts';
import type {
  DescribedPeer,
  FormDescription,
  FormOutline,
  FormsOperations,
  PinnedLayout,
} from '#lib/contracts/forms.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import type { PageRenderer } from '../pages/page-renderer.ts';

/**
 * The internal operation `renderForm`. It runs one query, as the description does, and passes cached items
 * on, so that their cached views are reused.
 */
export function createRenderForm({
  describeForm,
  renderer,
}: Pick<FormsOperations, 'describeForm'> & { renderer: PageRenderer }): FormsOperations['renderForm'] {
  return async ({ layout, languages, revision, page }) => {
    const description = await describeForm({ layout, languages });
    if (description.revision !== revision) return { html: null };
    return { html: renderer.render(wholePage(page, layout, description)) };
  };
}

function wholePage(page: FormOutline, layout: PinnedLayout, description: FormDescription): FormPage {
  const { language, theme, texts } = description;
  const described = new Map(description.elements.map((element) => [element.identifier, element]));
  return {
    ...page,
    language,
    theme,
    info: { ...description.info, previous: null },
    elements: page.elements.flatMap(({ identifier, previous }) => {
      const element = described.get(identifier);
      return element ? [{ ...element, previous } as FormElement] : [];
    }),
    peers: description.peers.map(presentPeer),
    layout: { ...layout, ...texts },
  };
}

/** Earlier answers to a peer's elements are not shown (docs/federation.md). */
function presentPeer({ info, elements, ...peer }: DescribedPeer): FormPeer {
  return {
    ...peer,
    info: info && { ...info, previous: null },
    elements: elements.map((element) => ({ ...element, previous: null }) as FormElement),
  };
}
