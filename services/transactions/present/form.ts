import type { FormElement } from '#lib/contracts/form-content.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import type { EarlierAnswer } from '#lib/contracts/record-status.ts';
import type { Links } from '../transaction/links.ts';
import {
  asksChanged,
  hidesAnswered,
  peersMayStayUnanswered,
  type ReadTransaction,
  type Transaction,
} from '../transaction/transaction.ts';
import { titleOf } from './result-page.ts';
import { pageOf } from './transaction.ts';

/** A form as its subject sees it. */
interface Shown extends Pick<FormPage, 'gpc' | 'entered'> {
  links: Links;
  baseUrl: string;
  /** Whether elements are shown that the layout hides, because they have a valid answer. */
  showsAll: boolean;
}

/** The page of an open transaction. */
export function formPage(
  read: ReadTransaction & { earlier: EarlierAnswer[] },
  { links, baseUrl, showsAll, gpc, entered }: Shown,
): FormPage {
  const { transaction, now, earlier } = read;
  const page = askingPage(transaction, { earlier, now });
  return {
    ...page,
    ...pageOf(read, baseUrl),
    hides: page.hides && !showsAll,
    links: {
      submit: links.submit,
      ...(transaction.context.cancellable && { cancel: links.cancel }),
      all: everythingAt(links.submit),
    },
    ...(gpc && { gpc }),
    ...(entered && { entered }),
  };
}

/** The page of a form that cannot be submitted. */
export function askingPage(
  transaction: Pick<Transaction, 'context' | 'layout' | 'parent'>,
  { earlier, now }: { earlier: EarlierAnswer[]; now: Date },
): FormPage {
  const { context, layout } = transaction;
  return {
    page: 'form',
    layout,
    earlier,
    now: now.toISOString(),
    hides: hidesAnswered(transaction),
    listsHidden: asksChanged(transaction),
    peersOptional: peersMayStayUnanswered(transaction),
    ...(context.validity && { validity: context.validity }),
    updatable: context.updatable,
  };
}

/** The URL of the form with the elements that it hides. */
function everythingAt(submit: string): string {
  return `${submit}&existingElementsVisible=true`;
}

type ReadForm = Awaited<ReturnType<FormsOperations['readForm']>>;

/** The Form representation in JSON mode (docs/interface.md, "Forms"). */
export function presentForm(transaction: Transaction, { form, hidden, labels }: ReadForm, links: Links) {
  const { id: _id, texts: _texts, blocs, ...layout } = transaction.layout;
  const { acceptAllText, refuseAllText, submitText, cancelText } = form.layout;
  const kept = asksChanged(transaction) ? hidden.flatMap(keptAnswer) : [];
  return {
    token: links.token,
    language: form.language,
    orientation: layout.orientation,
    info: form.info,
    elements: form.elements,
    peers: form.peers.map(({ info, ...peer }) => ({ ...peer, ...(info && { info }) })),
    layout: {
      type: 'layout' as const,
      ...layout,
      existingElementsVisible: !hidesAnswered(transaction),
      acceptAllText,
      refuseAllText,
      submitText,
      cancelText,
    },
    labels,
    links: {
      submit: links.submit,
      transaction: links.transaction,
      ...(transaction.context.cancellable ? { cancel: links.cancel } : {}),
      ...(kept.length > 0 && { all: everythingAt(links.submit) }),
    },
    ...(asksChanged(transaction) && { kept }),
    ...(blocs ? { blocs: presentBlocs(form.elements) } : {}),
  };
}

function keptAnswer({ content, previous }: FormElement) {
  return previous ? [{ ...previous, title: titleOf(content) }] : [];
}

/** For clients that read `blocs` (docs/interface.md). */
function presentBlocs(elements: readonly FormElement[]) {
  return elements.map(({ identifier, serial, entry }) => ({
    parent: { identifier, serial, element: { entry: { key: entry.key } } },
  }));
}
