import type { FormDescription, PinnedLayout } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import type { ConsentContext } from '../domain/context.ts';
import type { EarlierRecord } from '../domain/earlier-answers.ts';
import { fillForm } from './present-form.ts';

/** The page of a form that is only looked at: nothing on it can be sent. */
export function previewPage({
  context,
  layout,
  description,
  valid,
  instance,
}: {
  context: ConsentContext;
  layout: PinnedLayout;
  description: FormDescription;
  valid: readonly EarlierRecord[];
  instance: PageInstance;
}): FormPage {
  const form = fillForm(description, valid, {
    hides: () => !layout.existingElementsVisible,
    child: false,
  });
  return {
    page: 'form',
    language: form.language,
    instance,
    theme: description.theme,
    embedding: null,
    info: form.info,
    elements: form.elements,
    peers: form.peers,
    layout: { ...layout, ...description.texts },
    actions: null,
    values: {},
    faults: [],
    changed: [],
    comment: null,
    validity: context.validity,
    expires: null,
    updatable: context.updatable,
    isChild: false,
  };
}
