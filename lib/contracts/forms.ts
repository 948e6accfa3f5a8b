import type {
  FormElement,
  FormInformation,
  FormLabels,
  PreviousAnswer,
} from '#lib/contracts/form-content.ts';
import type { PageTheme } from '#lib/contracts/page-base.ts';
import type { FormPage, PageModel } from '#lib/contracts/pages.ts';
import type { RefusalReason, SealedPart } from '#lib/contracts/submissions.ts';
import type { Fault } from '#lib/errors/fail.ts';

/** Types of elements that are answered. */
export type AnswerableType = 'processing' | 'preference' | 'conditions';

/** Which layout a context names: a saved one by key or entry id, or one inline; exactly one of them. */
export interface LayoutReference {
  layout?: string;
  layoutData?: unknown;
  /** Key or entry id of a theme that overrides the layout's. */
  theme?: string;
}

/** Texts of a layout in one language. */
export interface LayoutTexts {
  acceptAllText?: string;
  submitText?: string;
  cancelText?: string;
}

/** A layout as a transaction pins it at creation: keys in order, and options. Serials are looked up when it is shown. */
export interface PinnedLayout {
  /** Entry id of the saved layout it came from, absent for an inline one. */
  id?: string;
  info: string;
  /** Keys; peers' as `<key>@<host[:port]>`. */
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
  /** By language; under `*` those of the default language, or of an inline layout. */
  texts: Record<string, LayoutTexts>;
  /** True if the context came with `blocs` (docs/interface.md): then forms carry `blocs` too. */
  blocs?: boolean;
}

/** The ACTIVE serial of an entry, or null when it has none; `deleted` once the entry is DELETED. */
export interface ActiveVersion {
  major: number | null;
  serial: string | null;
  deleted: boolean;
}

/** ACTIVE versions by entry key, peers' by `<key>@<host[:port]>`; keys that never existed are absent. */
export type ActiveVersions = Record<string, ActiveVersion>;

type WithoutPrevious<Item> = Item extends unknown ? Omit<Item, 'previous'> : never;
/** Items of a form (docs/interface.md, "Forms"), before the subject's earlier answer is put beside them. */
export type DescribedInformation = WithoutPrevious<FormInformation>;
export type DescribedElement = WithoutPrevious<FormElement>;

/** A peer that owns some of the form's elements (docs/federation.md). */
export interface DescribedPeer {
  name: string;
  /** Its base URL. */
  location: string;
  info: DescribedInformation | null;
  /** In layout order. */
  elements: DescribedElement[];
  /** RFC 3339: when this was last known to be as the peer has it; only if that was more than a day ago. */
  asOf?: string;
}

/** What a form asks now: the ACTIVE versions of a pinned layout, in the language chosen. */
export interface FormDescription {
  /** Another one as soon as anything else is another. */
  revision: string;
  language: string;
  info: DescribedInformation;
  /** All of them: own first, then peers', each in layout order. */
  elements: DescribedElement[];
  peers: DescribedPeer[];
  theme: PageTheme | null;
  texts: LayoutTexts;
  active: ActiveVersions;
}

/** The page of a form without what its description says. Peers' elements are asked as they are described. */
export interface FormOutline extends Omit<FormPage, keyof FormDescription | 'layout'> {
  /** Those that are shown, with the subject's earlier answers. */
  elements: { identifier: string; previous: PreviousAnswer | null }[];
}

/** An answer that was checked, ready to be recorded. */
export interface CheckedAnswer {
  identifier: string;
  type: AnswerableType;
  key: string;
  serial: string;
  /** Texts as the subject gave them (options: in the language shown). */
  value: string[];
  /** Positions among the options; null where there are none. */
  positions: number[] | null;
  /** Options offered in the language shown; null for free text and notices. */
  options: string[] | null;
  /** The texts shown, for the receipt. */
  content: DescribedElement['content'];
}

/** The outcome of checking an answers map. */
export type AnswerCheck =
  | {
      outcome: 'valid';
      language: string;
      info: DescribedInformation;
      /** To our own elements. */
      answers: CheckedAnswer[];
      /** Our own elements that were shown and left without an answer, which they do not need; absent: none. */
      unanswered?: DescribedElement[];
      /** Those to peers' elements, sealed: one for each peer that was answered. */
      parts: SealedPart[];
    }
  /** Faults with pointers into the answers map; a page links them to their elements. */
  | { outcome: 'invalid'; faults: Fault[] }
  /** Answers to versions of an older MAJOR, or to elements withdrawn since: identifiers as they were answered. */
  | { outcome: 'stale'; stale: string[] };

/** An ACTIVE entry as partner instances get it (federation.md, "Sharing content"). */
export interface SharedEntry {
  key: string;
  type: 'information' | AnswerableType;
  name: string;
  serial: string;
  /** Raised by every change of the entry. */
  revision: number;
  defaultLanguage: string;
  /** Content by language. */
  data: Record<string, Record<string, unknown>>;
}

/** An entry that a peer shares, as its signed document says; its signature was checked, its content was not. */
export interface PeerEntry {
  key: string;
  type: string;
  name: string;
  serial: string;
  defaultLanguage: string;
  data: Record<string, unknown>;
}

/** A peer as its catalogue is stored under. */
export interface CataloguePeer {
  /** Base URL. */
  url: string;
  name: string;
  /** What answers are sealed to: a public JWK. */
  sealingKey: Record<string, unknown>;
}

/** Internal operations of the forms service. They throw Failures meant for the client. */
export interface FormsOperations {
  /**
   * Resolves and checks a layout. @param input.theme overrides the layout's; unknown: ignored.
   * @throws Failure `layout-conflict`, `unknown-element`, `invalid`, `unavailable` (a peer's copy is too old).
   */
  resolveLayout(input: LayoutReference): Promise<{ layout: PinnedLayout; active: ActiveVersions }>;
  /** @throws Failure `withdrawn` if the information or all elements have no ACTIVE version any more, `unavailable` if a peer's copy is too old. */
  describeForm(input: { layout: PinnedLayout; languages: string[] }): Promise<FormDescription>;
  /**
   * Renders a form that was described before. @param input.revision of that description.
   * @returns html: null if the form is another one by now.
   * @throws Failure as `describeForm`.
   */
  renderForm(input: {
    layout: PinnedLayout;
    languages: string[];
    revision: string;
    page: FormOutline;
  }): Promise<{ html: string | null }>;
  /**
   * Checks an answers map against the layout (docs/interface.md, "Answers").
   * @param input.openedAt when the transaction was created: serials ACTIVE at or after it are accepted while their MAJOR is ACTIVE.
   * @param input.form a form post: an absent multi-choice answer means none chosen.
   * @param input.hidden keys not asked because they have a valid answer.
   * @param input.sealUntil RFC 3339: until when peers may open their parts. @param input.child peers' elements need no answer.
   * @throws Failure `withdrawn`, `unavailable` if a peer's copy is too old or has no information.
   */
  checkAnswers(input: {
    layout: PinnedLayout;
    openedAt: string;
    languages: string[];
    answers: Record<string, string[]>;
    form: boolean;
    hidden: string[];
    sealUntil: string;
    child?: boolean;
  }): Promise<AnswerCheck>;
  /**
   * Checks answers to our elements that came by a peer, as strictly as our own (federation.md, "Answers" 4).
   * @param input.peer its id: the elements must be shared with it. @param input.info the information's identifier.
   * @param input.elements identifiers of all that was asked. @param input.answers by identifier.
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
        unanswered?: DescribedElement[];
      }
    | { outcome: 'refused'; reason: Extract<RefusalReason, 'unknown-element' | 'stale' | 'invalid'> }
  >;
  activeVersions(input: { keys: string[] }): Promise<ActiveVersions>;
  /** The theme a layout names, for final and error pages; null if it names none or one that is not ACTIVE. */
  theme(input: { key: string; language: string }): Promise<PageTheme | null>;
  renderPage(input: { model: PageModel }): Promise<{ html: string }>;
  /** @returns the words of a form's page, for a client that draws the form itself. */
  labelForm(input: { page: FormPage }): Promise<FormLabels>;
  /**
   * What a peer may show, by key: shared elements, and the default information.
   * @param input.peer its id. @param input.after a key; '' for the first page. @param input.known the state that the peer has.
   * @returns state: a digest of all that the peer may show, of which this is a page; none if it is the known one.
   */
  sharedEntries(input: { peer: string; after: string; known: string | null; limit: number }): Promise<{
    state: string;
    entries: SharedEntry[];
    more: boolean;
  }>;
  /**
   * Keeps entries of a peer's catalogue, in any number of calls for one state of it. Idempotent. What breaks a rule of contents is left out and
   * logged. Nothing is withdrawn before the catalogue is finished.
   * @returns keys of what was left out.
   */
  storePeerEntries(input: {
    peer: CataloguePeer;
    state: string;
    entries: PeerEntry[];
  }): Promise<{ refused: string[] }>;
  /**
   * Tells that the copy is whole: what was not in this state of the catalogue is withdrawn. Also for a state that has not changed.
   * @param input.asOf RFC 3339: when the catalogue was asked for.
   * @returns held: false if forms does not have that state, so that all of it has to be sent again.
   */
  finishPeerCatalogue(input: { url: string; state: string; asOf: string }): Promise<{ held: boolean }>;
  /**
   * Tells which peers there are: `sharedWith` may name them. The list replaces the one before, unless that one is newer.
   * @param input.asOf RFC 3339: when the list was read.
   */
  setKnownPeers(input: { ids: string[]; asOf: string }): Promise<Record<string, never>>;
  /** Forgets the copies of a peer. */
  forgetPeer(input: { url: string }): Promise<void>;
}
