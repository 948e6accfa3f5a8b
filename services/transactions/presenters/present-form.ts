import type { FormElement, FormInformation, FormPeer } from '#lib/contracts/form-content.ts';
import type { DescribedElement, FormDescription, PinnedLayout } from '#lib/contracts/forms.ts';
import { type EarlierRecord, previousAnswer } from '../domain/earlier-answers.ts';
import { linksOf, withToken } from '../domain/links.ts';
import type { ReadTransaction } from '../domain/transaction.ts';

/** A form with the subject's earlier answers put beside its elements. */
export interface FilledForm {
  language: string;
  info: FormInformation;
  /** What is asked: without elements that have a valid answer, if the layout hides those. */
  elements: FormElement[];
  /** Peers that own some of it. */
  peers: FormPeer[];
  /** Elements that have a valid answer and are hidden. */
  hidden: FormElement[];
}

/**
 * Puts earlier valid answers beside the elements and hides what the layout hides (decisions.md §2 and §4).
 * @param child peers' elements need no answer, and none is suggested: their owners have one that we do not know (decisions.md §3).
 */
export function fillForm(
  layout: Pick<PinnedLayout, 'existingElementsVisible'>,
  description: FormDescription,
  valid: readonly EarlierRecord[],
  child = false,
): FilledForm {
  const ofPeer = (element: DescribedElement) =>
    ({ ...(child ? freed(element) : element), previous: null }) as FormElement;
  // Earlier answers to a peer's elements are the peer's own (decisions.md §6); ours to a key of the same name are something else.
  const elements = description.elements.map((element) =>
    element.owner === null
      ? ({ ...element, previous: previousAnswer(element, valid) } as FormElement)
      : ofPeer(element),
  );
  const hides = !layout.existingElementsVisible;
  return {
    language: description.language,
    info: { ...description.info, previous: null },
    elements: elements.filter(({ previous }) => !(hides && previous)),
    peers: description.peers.map((peer) => ({
      ...peer,
      info: peer.info && { ...peer.info, previous: null },
      elements: peer.elements.map(ofPeer),
    })),
    hidden: elements.filter(({ previous }) => hides && previous),
  };
}

function freed(element: DescribedElement): DescribedElement {
  const { content } = element;
  const unset = 'includeDefault' in content ? { ...content, includeDefault: false } : content;
  return { ...element, required: false, content: unset } as DescribedElement;
}

/** The Form representation in JSON mode (decisions.md §4, "Form"). */
export function presentForm(
  read: ReadTransaction,
  form: FilledForm,
  texts: FormDescription['texts'],
  token: string,
  baseUrl: string,
) {
  const { transaction } = read;
  const { layout } = transaction;
  const links = linksOf(baseUrl, transaction.id);
  return {
    token,
    language: form.language,
    orientation: layout.orientation,
    info: form.info,
    elements: form.elements,
    peers: form.peers.map(({ info, ...peer }) => ({ ...peer, ...(info && { info }) })),
    layout: presentLayout(layout, texts),
    links: {
      submit: withToken(links.submit, token),
      transaction: withToken(links.transaction, token),
      ...(transaction.context.cancellable ? { cancel: withToken(links.cancel, token) } : {}),
    },
    ...(layout.blocs ? { blocs: presentBlocs(form.elements) } : {}),
  };
}

/** The layout as it is in force, its texts in the form's language. */
function presentLayout(layout: ReadTransaction['transaction']['layout'], texts: FormDescription['texts']) {
  const { id: _id, texts: _texts, blocs: _blocs, ...options } = layout;
  return { type: 'layout' as const, ...options, ...texts };
}

/** What clients of a later generation read (decisions.md §4). */
function presentBlocs(elements: readonly FormElement[]) {
  return elements.map(({ identifier, serial, entry }) => ({
    parent: { identifier, serial, element: { entry: { key: entry.key } } },
  }));
}
