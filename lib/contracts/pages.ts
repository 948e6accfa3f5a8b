import type { FormElement, FormInformation, FormLayout, FormPeer } from '#lib/contracts/form-content.ts';
import type { PageBase, TransactionState } from '#lib/contracts/page-base.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';

/**
 * Page models: everything that forms needs to render a page, as plain JSON (no dates, no functions, no HTML but the rich
 * text fields named in form-content.ts). The renderer escapes every text, and sanitises rich text again.
 */
export type PageModel =
  | FormPage
  | AnsweredPage
  | FinalPage
  | ChildPage
  | ErrorPage
  | ReceiptPage
  | MailPage
  | WelcomePage
  | HostPage
  | ProblemPage
  | ApiPage;

/** Names that form posts carry beside the elements' identifiers (docs/interface.md, "Answers" and docs/interface.md). */
export interface FormFields {
  /** Hidden: the identifier of the information that was shown. */
  info: 'info';
  /** Text, only if {@link FormPage.comment} is not null. */
  comment: 'comment';
  /**
   * Which button was pressed: `submit`, `accept-all` or `refuse-all`. The last two answer every element that can be accepted and refused at
   * once, TOGGLEs too (element-rules.ts), whatever was also sent for them; everything else counts as entered. Absent means `submit`.
   */
  action: 'accord-action';
  /**
   * Hidden, once for each element shown: its identifier. It tells which version an answer that a browser does not send is about:
   * boxes left empty, and what accept-all and refuse-all answer. Absent: the ACTIVE versions were shown.
   */
  shown: 'accord-shown';
}

export type FormAction = 'submit' | 'accept-all' | 'refuse-all';

/** Whom the subject may ask, from the information's data controller. */
export interface PageContact {
  /** BCP 47: the language of these texts; absent: that of the page. */
  lang?: string;
  company?: string;
  info?: string;
  email?: string;
  phoneNumber?: string;
  address?: string;
}

/** A fault found by the server in an answer: shown in the summary, linked to the element, which becomes `aria-invalid`. */
export interface PageFault {
  /** The element's identifier, or `info`, `comment`. */
  identifier: string;
  /** `required`, `not-refusable`, `too-long`, `too-many`, `not-an-option`, `invalid-text`; others get a general text. */
  code: string;
  /** Only for clients that read JSON: pages have their own words for every code. */
  detail?: string;
}

/** The form. Also shown after faults (422), for a stale version (409), and as a preview. */
export interface FormPage extends PageBase {
  page: 'form';
  /** null only in previews of a single element. */
  info: FormInformation | null;
  /** What is shown, in layout order, own first, then peers' (docs/interface.md); without those that `existingElementsVisible: false` hides. */
  elements: FormElement[];
  peers: FormPeer[];
  layout: FormLayout;
  /** URLs with fresh tokens; null: a preview, nothing can be sent. `cancel` null: cannot be cancelled. */
  actions: { submit: string; cancel: string | null } | null;
  /** What was entered before a fault, by identifier; they win over earlier answers and defaults. */
  values: Record<string, string[]>;
  faults: PageFault[];
  /** Identifiers of elements that are new or changed since the subject opened the form. Not empty: the page says so and marks them. */
  changed: string[];
  /** What is shown was entered in a form that was sent too late: the page says that nothing has been sent yet. */
  kept?: boolean;
  /** null: no comment field (the usual case); a text: the field is shown with it. */
  comment: string | null;
  /** What the subject was told answers hold for; ISO 8601 duration. Shown if `layout.validityVisible`. `conditions` never expire. */
  validity: string | null;
  /** RFC 3339: until when the form can be answered. */
  expires: string | null;
  /** Whether answers can be changed later; the page promises only what is so. */
  updatable: boolean;
  /** Based on an earlier transaction: peers keep the earlier answers to their questions unless they are answered again. */
  isChild: boolean;
}

/** One answer, as it is told back to the subject. */
export interface PageAnswer {
  identifier: string;
  type: 'processing' | 'preference' | 'conditions';
  title: string;
  /** Language of `title` and `values`. */
  lang: string;
  owner: string | null;
  /** For processing and conditions; `shown` for a notice, null for preferences. */
  decision: 'accepted' | 'refused' | 'shown' | null;
  /** For a preference the texts chosen or entered; may be empty. */
  values: string[];
  /** RFC 3339, for answers that were given earlier and still hold. */
  created?: string;
}

/** All elements are hidden, because each has a valid answer: one button sends the empty submit. */
export interface AnsweredPage extends PageBase {
  page: 'answered';
  /** Identifier of the information, for the hidden field. */
  info: string;
  /** The answers that hold; may be empty. */
  answers: PageAnswer[];
  actions: {
    submit: string;
    cancel: string | null;
    /** GET: the form with all elements and their answers. */
    change: string;
  } | null;
}

/** What a peer was answered, and what has become of it. */
export interface PagePart {
  /** The peer's name. */
  owner: string;
  /** `late`: it was not reached in time. */
  state: 'sending' | 'held' | 'accepted' | 'refused' | 'late' | 'dropped';
  /** What was asked. */
  elements: { title: string; lang: string }[];
}

/** A final state, or answers that wait for peers. `child` null: not updatable; the page then says whom to ask. */
export interface FinalPage extends PageBase {
  page: 'submitted' | 'committed' | 'cancelled' | 'timeout' | 'rolledback';
  /** What was answered (committed), else empty. */
  answers: PageAnswer[];
  /** Name of the peer that showed the form; null: we did. */
  leader: string | null;
  /** Parts of the answers that peers own. */
  parts: PagePart[];
  /** RFC 3339: when the state was reached; submitted and timeout: the deadline. */
  at: string;
  /** RFC 3339: until when the answers hold (committed); null: no end, or `validityVisible` is off. */
  validUntil: string | null;
  /** RFC 3339: until when links open the receipt (committed). */
  receiptUntil: string | null;
  links: {
    /** GET, HTML receipt (committed). */
    receipt: string | null;
    /** POST: makes the child and leads to its form, in one step. */
    child: string | null;
    /** GET: this page again (submitted, or parts under way). */
    again: string | null;
    /** POST (submitted, if the subject may). */
    cancel: string | null;
  };
  contact: PageContact | null;
}

/** GET …/child: one button that POSTs to it. */
export interface ChildPage extends PageBase {
  page: 'child';
  /** The state of the parent, which decides the words: "change my answers" or "start again". */
  state: TransactionState;
  links: { child: string; transaction: string };
}

/** An error in HTML mode. The page that embeds it is told `code`, and nothing else. */
export interface ErrorPage extends PageBase {
  page: 'error';
  status: number;
  code: ProblemCode;
  /** Origin that the code goes to; absent: to the embedding page whatever its origin, because the transaction is not known. */
  iframeOrigin?: string;
  /** Seconds, with 429 and 503. */
  retryAfter?: number;
  links: {
    /** POST: start again (410 of an updatable transaction). */
    child: string | null;
    /** GET: the transaction, where it stands (409 `wrong-state`). */
    transaction: string | null;
  };
  contact: PageContact | null;
  /** Answers that came too late, carried along by the button that starts again. */
  entered?: { name: string; value: string }[];
}

/** The receipt, in the receipt's language. The QR code of `receipt.updateUrl` is drawn by the renderer. */
export interface ReceiptPage extends PageBase {
  page: 'receipt';
  receipt: ReceiptBody;
  links: {
    /** POST: makes the child, one step from the receipt; null: not updatable. */
    child: string | null;
    /** GET: the transaction's final page; null: not for this reader. */
    transaction: string | null;
    /** Other formats of the same receipt. */
    formats: { mediaType: string; url: string }[];
  };
}

/** Preview of an `email` model. */
export interface MailPage extends PageBase {
  page: 'mail';
  /** Language of the content. */
  lang: string;
  mail: {
    sender?: string;
    subject: string;
    title?: string;
    /** Rich text. */
    body: string;
    buttonLabel?: string;
    /** Rich text. */
    footer?: string;
    /** Rich text. */
    signature?: string;
  };
}

/** `GET /`. */
export interface WelcomePage extends PageBase {
  page: 'welcome';
  version: string;
  /** null: not in demo mode, the page has the name and links only. */
  demo: {
    /** A transaction URL whose form is embedded in the page. */
    formUrl: string;
    /** The page of a pretend site that embeds a form, see {@link HostPage}. */
    hostUrl: string;
    /** Where the lines to copy get a token by password; null: there are none. */
    tokenUrl: string | null;
    accounts: { username: string; password: string; role: string }[];
  } | null;
}

/** A page of a pretend site that embeds a form by three lines and shows what it is told (demo mode). */
export interface HostPage extends PageBase {
  page: 'host';
  formUrl: string;
}

/** `/docs/problems/<code>`. */
export interface ProblemPage extends PageBase {
  page: 'problem';
  code: ProblemCode;
  status: number;
}

/** `/docs`: the contract, readable and tried out in a browser. */
export interface ApiPage extends PageBase {
  page: 'api';
  /** The whole contract (OpenAPI 3.0.3), parsed. The page made of it is kept: hand in the same object each time. */
  document: Record<string, unknown>;
  /** The built-in issuer's token endpoint and public client, for signing in on the page; null with an outside issuer. */
  signIn: { tokenUrl: string; clientId: string } | null;
}
