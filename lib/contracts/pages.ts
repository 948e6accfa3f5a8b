import type { ExportPage, ExportPart } from '#lib/contracts/export-page.ts';
import type { FormElement, FormInformation, FormLayout, FormPeer } from '#lib/contracts/form-content.ts';
import type {
  ApiPage,
  HostPage,
  MailPage,
  MessagesPage,
  ProblemPage,
  WelcomePage,
} from '#lib/contracts/instance-pages.ts';
import type { PageBase, TransactionState } from '#lib/contracts/page-base.ts';
import type { PageRecipient, WithdrawalChoice } from '#lib/contracts/page-withdrawal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';

export type * from '#lib/contracts/instance-pages.ts';
export type * from '#lib/contracts/page-withdrawal.ts';

/**
 * Page models: the input of the page renderer in forms, as plain JSON. HTML is only in the rich text members
 * of form-content.ts. The renderer escapes every text, and sanitises rich text again.
 */
export type PageModel =
  | FormPage
  | AnsweredPage
  | FinalPage
  | ConfirmPage
  | MessagesPage
  | ChildPage
  | ErrorPage
  | ReceiptPage
  | ExportPage
  | ExportPart
  | MailPage
  | WelcomePage
  | HostPage
  | ProblemPage
  | ApiPage;

/** Whom the subject can contact: the data controller of the information. */
export interface PageContact {
  /** BCP 47 language of these texts; the page's if absent. */
  lang?: string;
  company?: string;
  info?: string;
  email?: string;
  phoneNumber?: string;
  address?: string;
}

/** A fault in an answer, shown in the summary with a link to the element, which becomes `aria-invalid`. */
export interface PageFault {
  /** The element's identifier, or `info`, `comment`. */
  identifier: string;
  /**
   * `required`, `not-refusable`, `too-long`, `too-long-together`, `too-many`, `not-an-option`,
   * `invalid-text`; other codes get a general text.
   */
  code: string;
  /** Only for JSON clients: pages have their own text for every code. */
  detail?: string;
}

/** The form, also after faults (422), for a stale version (409), and as a preview. */
export interface FormPage extends PageBase {
  page: 'form';
  /** Null only in previews of a single element. */
  info: FormInformation | null;
  /** The shown elements: own ones first, then those of peers, each in layout order. */
  elements: FormElement[];
  peers: FormPeer[];
  layout: FormLayout;
  /** URLs with fresh tokens; null in a preview. `cancel`: null if the transaction cannot be cancelled. */
  actions: { submit: string; cancel: string | null } | null;
  /** Answers entered before a fault, by identifier; they override earlier answers and defaults. */
  values: Record<string, string[]>;
  faults: PageFault[];
  /**
   * Identifiers of elements that are new or have changed since the subject opened the form; the page marks
   * them.
   */
  changed: string[];
  /**
   * Number of questions that were removed since the subject opened the form. Present if the form is shown
   * again because it has changed; the page then says that the answers have not been sent.
   */
  removed?: number;
  /**
   * Whether the answers were entered in a form that was submitted too late; the page says that they have not
   * been submitted.
   */
  kept?: boolean;
  /**
   * How long the answers are valid; ISO 8601 duration. Shown if `layout.validityVisible`. `conditions` never
   * expire.
   */
  validity: string | null;
  /** RFC 3339: until when the form can be answered. */
  expires: string | null;
  /** Whether answers can be changed later. */
  updatable: boolean;
  /**
   * Whether the reader's browser sends Global Privacy Control. Then no earlier consent to marketing or
   * sharing is preselected.
   */
  gpc?: boolean;
  /** Answers that stay as they are, because only changed questions are asked; absent without any. */
  unchanged?: { answers: PageAnswer[]; all: string };
  /**
   * Whether elements of peers need no answer, because the peer keeps the earlier one: in a child, and if only
   * changed questions are asked.
   */
  peersOptional: boolean;
}

/** One answer, as it is shown to the subject. */
export interface PageAnswer {
  identifier: string;
  type: 'processing' | 'preference' | 'conditions';
  title: string;
  /** Language of `title` and `values`. */
  lang: string;
  owner: string | null;
  /**
   * The subject's answer to a processing or conditions; `shown` for a notice, null for a preference. It is no
   * decision of a leader.
   */
  decision: 'accepted' | 'refused' | 'withdrawn' | 'shown' | null;
  /** For a preference the texts chosen or entered; may be empty. */
  values: string[];
  /** When it was given (RFC 3339); for earlier answers. */
  created?: string;
}

/** All elements are hidden because each has a valid answer; a button submits without answers. */
export interface AnsweredPage extends PageBase {
  page: 'answered';
  /** Identifier of the information, for the hidden field. */
  info: string;
  /** The valid answers; may be empty. */
  answers: PageAnswer[];
  actions: {
    submit: string;
    cancel: string | null;
    /** GET: the form with all elements and their answers. */
    change: string;
  } | null;
}

/** GET …/confirm: where the code was sent, and a field to enter it. */
export interface ConfirmPage extends PageBase {
  page: 'confirm';
  type: 'FORM_CODE' | 'EMAIL_CODE' | 'SMS_CODE';
  /** The address that the code was sent to, masked (`a…@example.org`, `…4567`); null for FORM_CODE. */
  destination: string | null;
  /** The code itself; null except for FORM_CODE. */
  code: string | null;
  /** RFC 3339: until when the code is valid. */
  expires: string;
  isExpired: boolean;
  /** Attempts left with this code; at 0 another code is needed. */
  triesLeft: number;
  /** Codes that can still be requested. */
  codesLeft: number;
  /** Seconds until another code may be requested; 0: now. */
  resendIn: number;
  /**
   * Fault of the last attempt. `malformed`: not six digits; `early`: another code was requested too soon;
   * `limit`: too many messages to the address, or too many SMS to its country.
   */
  fault: 'malformed' | 'wrong' | 'superseded' | 'expired' | 'exhausted' | 'early' | 'limit' | null;
  /** Whether another code has just been sent. */
  isResent: boolean;
  /**
   * URLs with fresh tokens, all POST. `confirm` takes the field `code`. `resend`: null if no code is left.
   * `cancel`: null if the subject may not cancel.
   */
  actions: { confirm: string; resend: string | null; cancel: string | null };
}

/** A part and its state. */
export interface PagePart {
  /** The owner's name. */
  owner: string;
  /**
   * `late`: the part, or the decision about it, was not acknowledged before the deadline; it may have
   * arrived. `unsent`: withdrawn before it was sent.
   */
  state: 'sending' | 'held' | 'accepted' | 'refused' | 'late' | 'dropped' | 'unsent';
  /**
   * Whether the withdrawal of a part that is `held` or `accepted` was ordered, now or earlier. The owner may
   * not have been told of it yet.
   */
  withdrawn?: boolean;
  /** The elements of the part. */
  elements: { title: string; lang: string }[];
}

/**
 * A final state, or answers that wait for peers. A final page without a link to the child shows whom to
 * contact for changes.
 */
export interface FinalPage extends PageBase {
  page: 'submitted' | 'committed' | 'cancelled' | 'timeout' | 'rolledback';
  /**
   * Why the answers were rolled back. `codes`: the last code had expired or no attempt was left. `withdrawn`:
   * a part was withdrawn. Absent: any other cause, such as an owner that did not hold its part, or at an
   * owner the decision of the leader.
   */
  reason?: 'codes' | 'withdrawn';
  /** The answers if committed, else empty. */
  answers: PageAnswer[];
  withdrawal?: WithdrawalChoice;
  /** Only for a withdrawal: peers that could still be told to withdraw their part of the parent. */
  keptBy?: string[];
  /** Only for a withdrawal: peers that are told to end all consents of the form. */
  toldPeers?: string[];
  /** Who is told of a withdrawal or of a refusal of what was accepted; absent without recipients. */
  recipients?: PageRecipient[];
  /** Name of the peer that showed the form; null if this instance did. */
  leader: string | null;
  /** The parts of the submission, in the order of the form. */
  parts: PagePart[];
  /** RFC 3339: when the state was reached; for `submitted` and `timeout`, the deadline. */
  at: string;
  /**
   * RFC 3339: until when the answers are valid (committed); null without an end, or without
   * `validityVisible`.
   */
  validUntil: string | null;
  /** RFC 3339: until when links open the receipt (committed). */
  receiptUntil: string | null;
  links: {
    /** GET, HTML receipt (committed). */
    receipt: string | null;
    /** POST: creates the child and redirects to its form. */
    child: string | null;
    /** GET: this page again, while a verdict on the answers or on a part can still arrive. */
    again: string | null;
    /** POST: cancels the transaction (submitted, if `cancellable`). */
    cancel: string | null;
  };
  contact: PageContact | null;
}

/** GET …/child: offers to create the child or to withdraw consents. */
export interface ChildPage extends PageBase {
  page: 'child';
  /** The state of the parent, which selects the text: "change my answers" or "start again". */
  state: TransactionState;
  /** The answers of the parent if it is committed. */
  answers?: PageAnswer[];
  withdrawal?: WithdrawalChoice;
  links: { child: string; transaction: string };
}

/** An error in HTML mode. The embedding page gets only `code`. */
export interface ErrorPage extends PageBase {
  page: 'error';
  status: number;
  code: ProblemCode;
  /** The only origin that gets the code; absent: any, as the transaction was not read or names none. */
  iframeOrigin?: string;
  /** Seconds, with 429 and 503. */
  retryAfter?: number;
  links: {
    /** POST: starts again (410 of an updatable transaction). */
    child: string | null;
    /** GET: the transaction (409 `wrong-state`). */
    transaction: string | null;
  };
  contact: PageContact | null;
  /** Answers submitted too late, which the button that starts again sends along. */
  entered?: { name: string; value: string }[];
}

/** The receipt, in its own language. The renderer draws the QR code of `receipt.updateUrl`. */
export interface ReceiptPage extends PageBase {
  page: 'receipt';
  receipt: ReceiptBody;
  withdrawal?: WithdrawalChoice;
  /** As on the final page. */
  recipients?: PageRecipient[];
  links: {
    /** POST: creates the child; null in a file, and if not updatable. */
    child: string | null;
    /** GET: the transaction's final page; null in a file. */
    transaction: string | null;
    /** Other formats of the same receipt. */
    formats: { mediaType: string; url: string }[];
  };
}
