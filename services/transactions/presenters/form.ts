import type { FormElement, FormInformation, FormLabels, FormPeer } from '#lib/contracts/form-content.ts';
import type { DescribedElement, FormDescription } from '#lib/contracts/forms.ts';
import { type EarlierRecord, previousAnswer } from '../domain/records.ts';
import { hidesAnswered, type ReadTransaction, type Transaction } from '../domain/transaction.ts';
import { linksOf } from '../domain/transaction-token.ts';

/** A form with the subject's earlier answers. */
export interface FilledForm {
  language: string;
  info: FormInformation;
  /** Without the hidden ones. */
  elements: FormElement[];
  peers: FormPeer[];
  /** Elements with a valid answer that are not shown. */
  hidden: FormElement[];
}

/**
 * Adds earlier valid answers to the elements and hides elements.
 * @param options.hides whether an element with a valid answer is hidden.
 * @param options.child true for a child, where elements of peers need no answer.
 */
export function fillForm(
  description: FormDescription,
  valid: readonly EarlierRecord[],
  { hides, child }: { hides: (element: DescribedElement) => boolean; child: boolean },
): FilledForm {
  const ofPeer = (element: DescribedElement) =>
    ({ ...(child ? withoutDefault(element) : element), previous: null }) as FormElement;
  // Only the peer knows earlier answers to its elements; our records of an equal key are of other elements.
  const elements = description.elements.map((element) =>
    element.owner === null
      ? ({ ...element, previous: previousAnswer(element, valid) } as FormElement)
      : ofPeer(element),
  );
  const isHidden = (element: FormElement) => element.previous !== null && hides(element);
  return {
    language: description.language,
    info: { ...description.info, previous: null },
    elements: elements.filter((element) => !isHidden(element)),
    peers: description.peers.map((peer) => ({
      ...peer,
      info: peer.info && { ...peer.info, previous: null },
      elements: peer.elements.map(ofPeer),
    })),
    hidden: elements.filter(isHidden),
  };
}

function withoutDefault(element: DescribedElement): DescribedElement {
  const { content } = element;
  const unset = 'includeDefault' in content ? { ...content, includeDefault: false } : content;
  return { ...element, required: false, content: unset } as DescribedElement;
}

interface PresentedWith {
  /** The layout's texts in the form's language. */
  texts: FormDescription['texts'];
  labels: FormLabels;
  token: string;
  baseUrl: string;
}

/** The Form representation in JSON mode (docs/interface.md, "Forms"). */
export function presentForm(
  read: ReadTransaction,
  form: FilledForm,
  { texts, labels, token, baseUrl }: PresentedWith,
) {
  const { transaction } = read;
  const { layout } = transaction;
  const links = linksOf(baseUrl, transaction.id, token);
  return {
    token,
    language: form.language,
    orientation: layout.orientation,
    info: form.info,
    elements: form.elements,
    peers: form.peers.map(({ info, ...peer }) => ({ ...peer, ...(info && { info }) })),
    layout: presentLayout(transaction, texts),
    labels,
    links: {
      submit: links.submit,
      transaction: links.transaction,
      ...(transaction.context.cancellable ? { cancel: links.cancel } : {}),
    },
    ...(layout.blocs ? { blocs: presentBlocs(form.elements) } : {}),
  };
}

/** The layout with its texts in the form's language. */
function presentLayout(transaction: Transaction, texts: FormDescription['texts']) {
  const { id: _id, texts: _texts, blocs: _blocs, ...options } = transaction.layout;
  const existingElementsVisible = !hidesAnswered(transaction);
  return { type: 'layout' as const, ...options, existingElementsVisible, ...texts };
}

/** For clients that read `blocs` (docs/interface.md). */
function presentBlocs(elements: readonly FormElement[]) {
  return elements.map(({ identifier, serial, entry }) => ({
    parent: { identifier, serial, element: { entry: { key: entry.key } } },
  }));
}
