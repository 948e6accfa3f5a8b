import type { ExportModels } from '#lib/contracts/exported-models.ts';
import type { FormElement, FormInformation, FormLabels } from '#lib/contracts/form-content.ts';
import type { CheckImported } from '#lib/contracts/imported-answers.ts';
import type { MessageRequest, RenderedMessage } from '#lib/contracts/messages.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { PageTheme } from '#lib/contracts/page-base.ts';
import type { FormPage, PageContent, PageOptions, ReceiptPage, ShownForm } from '#lib/contracts/pages.ts';
import type { RefusalReason, SealedPart, SubjectContact } from '#lib/contracts/parts.ts';
import type { CataloguePeer, PeerEntry, SharedEntry } from '#lib/contracts/peer-entries.ts';
import type { PublicForm } from '#lib/contracts/public-forms.ts';
import type { ActiveVersions, VersionsAt } from '#lib/contracts/versions.ts';
import type { Fault } from '#lib/errors/fail.ts';
import type { MessageChannel } from './messages.ts';

/** Types of elements that can be answered. */
export type AnswerableType = 'processing' | 'preference' | 'conditions';

/** The layout of a context: either saved, by key or entry id, or inline. */
export interface LayoutReference {
  layout?: string;
  layoutData?: unknown;
  /** Key or entry id of a theme; overrides the layout's. */
  theme?: string;
  /** Key or entry id of an email; overrides the layout's. */
  notification?: string;
}

/** Texts of a layout in one language. */
export interface LayoutTexts {
  acceptAllText?: string;
  refuseAllText?: string;
  submitText?: string;
  cancelText?: string;
}

/**
 * The layout that a transaction pins at its creation: keys and options. Serials are looked up when it is
 * shown.
 */
/** openapi.yaml, `LayoutContext`. */
export type LayoutContext = components['schemas']['LayoutContext'];

export interface PinnedLayout {
  /** Entry id of the saved layout; absent for an inline layout. */
  id?: string;
  info: string;
  /** Keys in order; those of peers as `<key>@<host[:port]>`. */
  elements: string[];
  orientation: 'VERTICAL' | 'HORIZONTAL';
  theme?: string;
  notification?: string;
  existingElementsVisible: boolean;
  validityVisible: boolean;
  acceptAllVisible: boolean;
  cancelVisible: boolean;
  footerOnTop: boolean;
  includeIFrameResizer: boolean;
  /** By language; `*` has those of the default language, or of an inline layout. */
  texts: Record<string, LayoutTexts>;
  /** Whether the context has `blocs`; then forms have `blocs` too (docs/interface.md). */
  blocs?: boolean;
}

type WithoutPrevious<Item> = Item extends unknown ? Omit<Item, 'previous' | 'change'> : never;
/** Items of a form without the subject's earlier answers (docs/interface.md, "Forms"). */
export type DescribedInformation = WithoutPrevious<FormInformation>;
export type DescribedElement = WithoutPrevious<FormElement>;

/** A peer that owns some of the form's elements (docs/federation.md). */
export interface DescribedPeer {
  name: string;
  /** Base URL. */
  location: string;
  info: DescribedInformation | null;
  /** In layout order. */
  elements: DescribedElement[];
  /** RFC 3339: when the peer last confirmed the copy; only if that was more than a day ago. */
  asOf?: string;
}

/** The current content of a form: the ACTIVE versions of a pinned layout, in the chosen language. */
export interface FormDescription {
  language: string;
  /** Languages that the information and all own elements have, and the texts of the pages too. */
  languages: string[];
  info: DescribedInformation;
  /** All elements: own ones first, then those of peers, each in layout order. */
  elements: DescribedElement[];
  peers: DescribedPeer[];
  theme: PageTheme | null;
  texts: LayoutTexts;
  active: ActiveVersions;
}

/** A valid answer, ready to be recorded. */
export interface CheckedAnswer {
  identifier: string;
  type: AnswerableType;
  key: string;
  serial: string;
  /** Texts as given by the subject; options in the language shown. */
  value: string[];
  /** Positions among the options; null without options. */
  positions: number[] | null;
  /** Options in the language shown; null for free text and notices. */
  options: string[] | null;
  /** The texts shown, for the receipt. */
  content: DescribedElement['content'];
}

/** Answers that may be stored. */
export type ValidCheck = Extract<AnswerCheck, { outcome: 'valid' }>;

/** The result of checking an answers map. */
export type AnswerCheck =
  | {
      outcome: 'valid';
      language: string;
      info: DescribedInformation;
      /** Answers to own elements. */
      answers: CheckedAnswer[];
      /** Own optional elements that were shown and not answered. */
      unanswered: DescribedElement[];
      /** Encrypted answers to elements of peers, one part for each peer. */
      parts: SealedPart[];
    }
  | {
      outcome: 'invalid';
      /** With pointers into the answers map. */
      faults: Fault[];
    }
  | {
      outcome: 'stale';
      /** Identifiers of answers, shown items and new notices that make the submission stale. */
      stale: string[];
    };

/** Internal operations of the forms service. Their Failures are meant for the client. */
export interface FormsOperations {
  /**
   * Resolves and checks a layout. @param input.theme overrides the layout's; ignored if unknown.
   * @returns public: absent for an inline layout, and for a form without an address of its own.
   * @throws Failure `layout-conflict`, `unknown-element`, `invalid`, `unavailable` (the copy of a
   * peer's models is too old, or has no model of the type `information`).
   */
  resolveLayout(input: LayoutReference): Promise<{
    layout: PinnedLayout;
    active: ActiveVersions;
    public?: PublicForm;
    /** Members of a context that the layout gives where they are left out. */
    context?: LayoutContext;
  }>;
  /**
   * Describes a form.
   * @throws Failure `withdrawn` if the information or every element has lost its ACTIVE version;
   * `unavailable` if the copy of a peer's models is too old, or has no model of the type `information`.
   */
  describeForm(input: { layout: PinnedLayout; languages: string[] }): Promise<FormDescription>;
  /**
   * Checks an answers map against the layout (docs/interface.md, "Answers").
   * @param input.openedAt RFC 3339: creation of the transaction. Serials that were ACTIVE then or later are
   * accepted while their MAJOR is ACTIVE.
   * @param input.form whether the answers are a form post, in which a missing multiple choice means that no
   * option was chosen.
   * @param input.hidden keys of elements that are not asked because they have a valid answer.
   * @param input.givenAt RFC 3339: when the answers were given, on the clock of the database.
   * @param input.sealUntil RFC 3339: until when owners can open their parts.
   * @param input.peersOptional whether elements of peers need no answer: in a child, and with `ask: CHANGED`.
   * @param input.subjectInfos contact data for the owners; only sealed parts contain them.
   * @param input.isAddressConfirmed whether the person entered the e-mail address before the answers, and a
   * code mailed there releases the parts.
   * @throws Failure `withdrawn` and `unavailable` as `describeForm`.
   */
  checkAnswers(input: {
    layout: PinnedLayout;
    openedAt: string;
    languages: string[];
    answers: Record<string, string[]>;
    form: boolean;
    hidden: string[];
    givenAt: string;
    sealUntil: string;
    peersOptional?: boolean;
    /** Whether the page showed no earlier answers of the person. */
    isSilent?: boolean;
    /** Whether an empty answer to a required question is taken: the person left the question blank. */
    takesBlanks?: boolean;
    subjectInfos?: SubjectContact;
    isAddressConfirmed?: boolean;
  }): Promise<AnswerCheck>;
  /**
   * Checks answers to own elements that a peer collected (docs/federation.md, "Answers at their owner").
   * @param input.peer id of the peer; the elements must be shared with it. @param input.info identifier of
   * the information.
   * @param input.elements identifiers of the asked elements. @param input.answers by identifier.
   */
  checkSubmission(input: {
    peer: string;
    language: string;
    info: string;
    elements: string[];
    answers: Record<string, string[]>;
  }): Promise<
    | {
        outcome: 'valid';
        language: string;
        info: DescribedInformation;
        answers: CheckedAnswer[];
        unanswered: DescribedElement[];
      }
    | { outcome: 'refused'; reason: Extract<RefusalReason, 'unknown-element' | 'stale' | 'invalid'> }
  >;
  checkImported: CheckImported;
  activeVersions(input: { keys: string[] }): Promise<ActiveVersions>;
  /** @returns those of the own entries that had an option with a comma, in any language of any version. */
  withCommas(input: { keys: string[] }): Promise<{ keys: string[] }>;
  /**
   * @param input.keys of own entries, and of peers' by `<key>@<host[:port]>`.
   * @param input.at RFC 3339; now if absent.
   */
  versionsAt(input: { keys: string[]; purposes: string[]; at?: string }): Promise<VersionsAt>;
  exportModels: ExportModels;
  renderPage(input: PageOptions & { page: PageContent }): Promise<{ html: string }>;
  /** Renders the content of a page as plain text of 72 columns. */
  renderText(input: PageOptions & { page: ReceiptPage }): Promise<{ text: string }>;
  /** Composes a mail or SMS to a subject; the caller sends it. */
  renderMessage(input: MessageRequest): Promise<RenderedMessage>;
  /**
   * Renders a receipt as a PDF document (docs/interface.md, "Receipts"). The same input gives the same bytes.
   * @param input.jws the signed receipt, which is attached to the document.
   * @returns pdf: the document in base64.
   * @throws Failure `unavailable` with Retry-After if too many documents are being rendered; `not-acceptable`
   * for a receipt that is too long.
   */
  renderReceiptPdf(
    input: PageOptions & { page: ReceiptPage; jws: string; asker: string },
  ): Promise<{ pdf: string }>;
  /**
   * What a form page shows, for a client that renders the form itself.
   * @returns hidden: the elements that are left out. labels: the texts of the page.
   */
  readForm(
    input: PageOptions & { page: FormPage },
  ): Promise<{ form: ShownForm; hidden: FormElement[]; labels: FormLabels }>;
  /**
   * Lists the entries that a peer may show, by key: shared elements, and the default information.
   * @param input.peer id of the peer. @param input.after a key; '' for the first page. @param input.known the
   * state that the peer has.
   * @returns state: a digest of the whole list. entries: a page of it; empty if the peer has this state.
   */
  sharedEntries(input: { peer: string; after: string; known: string | null; limit: number }): Promise<{
    state: string;
    entries: SharedEntry[];
    more: boolean;
  }>;
  /**
   * Stores entries of a peer's catalogue, in any number of calls for one state. Idempotent. Entries with
   * invalid content are skipped and logged. Entries are withdrawn only by `finishPeerCatalogue`.
   * @returns refused: keys of the skipped entries.
   */
  storePeerEntries(input: {
    peer: CataloguePeer;
    state: string;
    entries: PeerEntry[];
  }): Promise<{ refused: string[] }>;
  /**
   * Completes a state of a peer's catalogue: withdraws the entries that are not in it. Also called for an
   * unchanged state.
   * @param input.asOf RFC 3339: when the catalogue was requested.
   * @returns held: false if forms does not have this state; then all entries must be sent again.
   */
  finishPeerCatalogue(input: { url: string; state: string; asOf: string }): Promise<{ held: boolean }>;
  /**
   * Replaces the list of peers that `sharedWith` may name, unless the stored list is newer.
   * @param input.urls base URLs of these peers, in the same order. @param input.choices their pages "My
   * choices", in the same order; empty: none.
   * @param input.asOf RFC 3339: when the list was read.
   */
  setKnownPeers(input: {
    ids: string[];
    urls: string[];
    choices: string[];
    asOf: string;
  }): Promise<Record<string, never>>;
  /** The pages "My choices" that peers have announced, by base URL. */
  peerChoices(input: { urls: string[] }): Promise<{ choices: Record<string, string> }>;
  /** Replaces the list of configured channels for messages to subjects, which `GET /system/config` shows. */
  setMessageChannels(input: { channels: MessageChannel[] }): Promise<Record<string, never>>;
  /** Deletes the copies of a peer's entries. */
  forgetPeer(input: { url: string }): Promise<void>;
}
