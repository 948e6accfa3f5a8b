import type { FormElement } from '#lib/contracts/form-content.ts';
import type { FormDescription, FormOutline, FormsOperations, PinnedLayout } from '#lib/contracts/forms.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import type { PageRenderer } from '../pages/create-page-renderer.ts';

/**
 * The internal operation `renderForm`: one query, as for the description, and no content on its way here; items stay those of the cache, so
 * what pages show of them is there already.
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
    ...{ language, theme },
    info: { ...description.info, previous: null },
    elements: page.elements.flatMap(({ identifier, previous }) => {
      const element = described.get(identifier);
      return element ? [{ ...element, previous } as FormElement] : [];
    }),
    peers: [],
    layout: { ...layout, ...texts },
  };
}
