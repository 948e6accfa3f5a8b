import type { FormElement, FormInformation, FormLayout, FormPeer } from '#lib/contracts/form-content.ts';
import type { AnswerCheck, PinnedLayout } from '#lib/contracts/forms.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { AskedColorScheme } from '#lib/contracts/page-base.ts';
import type { PublicForm } from '#lib/contracts/public-forms.ts';
import type { ReceiptBody, ReceiptConsent } from '#lib/contracts/receipt-body.ts';
import type { EarlierAnswer } from '#lib/contracts/record-status.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';

type Schemas = components['schemas'];

/**
 * What the pages of transactions are drawn from: the representations that JSON clients get (openapi.yaml),
 * and what only a page needs. HTML is only in the rich text members of form-content.ts. The renderer escapes
 * every text, and sanitises rich text again.
 */
export type PageContent =
  | EntryPage
  | ChoicesPage
  | ChoicesEntryPage
  | VerifyPage
  | UnsubscribePage
  | FormPage
  | ConfirmPage
  | ResultPage
  | ReceiptPage
  | ErrorPage
  | ExportPage
  | ExportPart
  | MessagesPage;

/** How a page is drawn. */
export interface PageOptions {
  /** BCP 47, best first; the first one is the language of the page, or English without a catalogue. */
  languages: string[];
  /** Keys or entry ids of themes; the first one that is ACTIVE is used. A form has that of its layout. */
  themes?: (string | undefined)[];
  /** The scheme requested by the URL; absent if the theme and the reader's device decide. */
  colorScheme?: AskedColorScheme;
  /** URL of the page, which then offers its other languages; a form has them at its own links. */
  here?: string | undefined;
}

/** Members of every page about a transaction. URLs have fresh tokens, and the requested colour scheme. */
interface OfTransaction {
  /** As operators get it; without `links` if the page has none. */
  transaction: Schemas['ListedTransaction'];
  /** If the page shows no information, the current one names the organisation that asks. */
  layout: PinnedLayout;
}

/** Texts of the information under which was asked. They name the organisation that asks and its contact. */
export type ShownInformation = Pick<ReceiptBody['information'], 'lang' | 'texts'>;

/** /verify: whether a receipt is genuine. */
export interface VerifyPage {
  page: 'verify';
  /** `none`: the file has no signed receipt. Absent before a file was sent. */
  outcome?: 'genuine' | 'not' | 'none';
}

/** The choices of a person, as the representation has them, and what can be done about them. */
export interface ChoicesPage {
  page: 'choices';
  own: Required<Pick<Schemas['ChoicesAt'], 'name' | 'location' | 'choices'>>;
  /** Where else answers are that were given in forms of this instance. */
  peers: Required<Pick<Schemas['ChoicesAt'], 'name' | 'location' | 'sent'>>[];
  /** Whose forms brought answers here. */
  leaders: Schemas['ChoicesLeader'][];
  /** Whether the session sees everything of the person; else only what `leaders` brought. */
  isWhole: boolean;
  /** How each of `own.choices` stands on its receipt; null without one. */
  shown: (ReceiptConsent | null)[];
  /** Who used the data, newest first. */
  audit: Schemas['ExportedAction'][];
  /** Newest first. */
  erasures: Schemas['ExportedErasure'][];
  /** What was just done. */
  done: 'withdrawn' | 'objected' | 'erasure' | null;
  /** Whether the session has begun so recently that everything can be exported. */
  isFresh: boolean;
  /** Whether another page shows this one. */
  inFrame: boolean;
  returnUrl?: string;
  /** All POST, but `export` and `again`, which asks for a link; absent for those who only read. */
  links?: Record<'withdraw' | 'change' | 'erasure' | 'export' | 'end' | 'again', string>;
}

/**
 * Before a session. `ask`: one field for an address; `sent`: a mail follows if it is known; `open`: the
 * button that a link leads to; `over`: the link cannot be opened any more; `ended`: all sessions were ended.
 */
export interface ChoicesEntryPage {
  page: 'choices-entry';
  stage: 'ask' | 'sent' | 'open' | 'over' | 'ended';
  /** With `sent`: whether a part was named instead of an address. */
  isFromPeer?: boolean;
  /** POST */
  url: string;
  /** Whether the instance can send mails. */
  isMailed: boolean;
  /** The address that was entered, which is none. */
  fault?: { address: string };
}

/** /choices/unsubscribe: ends the messages of campaigns. */
export interface UnsubscribePage {
  page: 'unsubscribe';
  /** What holds now: the page asks, they have ended, or their end was undone. */
  state: 'asked' | 'ended' | 'undone';
  /** Where the end is undone; with `ended` alone. */
  undo?: string;
}

/** GET /f/{key}: who asks, and how to begin. */
export interface EntryPage {
  page: 'entry';
  key: string;
  layout: PinnedLayout;
  identify: PublicForm['identify'];
  /** RFC 3339: the end of the last day; absent: there is none. */
  until?: string;
  /** Whether the last day is over. */
  isOver: boolean;
  /** POST, which begins. */
  url: string;
  /** Fault of the last attempt: the address that was entered, or the field that has to be empty. */
  fault?: { field: 'emailAddress' | 'website'; emailAddress: string };
}

/** A form as JSON clients get it, without what they need besides the page (openapi.yaml, `Form`). */
export interface ShownForm {
  language: string;
  /** Languages in which the form can be read: {@link FormDescription}. */
  languages: string[];
  info: FormInformation;
  /** The shown elements: own ones first, then those of peers, each in layout order. */
  elements: FormElement[];
  peers: FormPeer[];
  layout: FormLayout;
  /**
   * Absent in a preview. `cancel`: absent if the transaction cannot be cancelled. `all`: the form with the
   * hidden elements.
   */
  links?: { submit: string; cancel?: string; all: string };
}

/**
 * The form, also after faults (422), for a stale version (409), and as a preview. If all elements are hidden,
 * a button submits without answers.
 */
export interface FormPage extends Partial<OfTransaction> {
  page: 'form';
  layout: PinnedLayout;
  /** The subject's newest committed answers to own questions. */
  earlier: EarlierAnswer[];
  /** RFC 3339: the time of the database. */
  now: string;
  /** Whether elements with a valid answer are left out, except those that `entered` shows. */
  hides: boolean;
  /** Whether the page lists the answers to the elements that are left out. */
  listsHidden: boolean;
  /** Whether elements of peers need no answer, because the peer keeps the earlier one. */
  peersOptional: boolean;
  /**
   * A form post whose answers are shown again. `check`: why they were rejected; absent if they were sent too
   * late, to the parent, and not checked.
   */
  entered?: { answers: Record<string, string[]>; check?: Exclude<AnswerCheck, { outcome: 'valid' }> };
  links?: ShownForm['links'];
  /** The `validity` of the context, if it has one. Shown in words if `layout.validityVisible`. */
  validity?: string;
  /** Whether answers can be changed later. */
  updatable: boolean;
  /**
   * Whether the reader's browser sends Global Privacy Control. Then no earlier consent to marketing or
   * sharing is preselected.
   */
  gpc?: boolean;
}

/** GET …/confirm: where the code was sent, and a field to enter it. */
export interface ConfirmPage extends OfTransaction {
  page: 'confirm';
  code: Omit<Schemas['CodeStatus'], 'token'>;
  information: ShownInformation;
  /** RFC 3339: the time of the database. */
  now: string;
  /**
   * Fault of the last attempt. `malformed`: not six digits; `early`: another code was requested too soon;
   * `limit`: too many messages to the address, or too many SMS to its country.
   */
  fault: 'malformed' | 'wrong' | 'superseded' | 'expired' | 'exhausted' | 'early' | 'limit' | null;
  /** Whether another code has just been sent. */
  isResent: boolean;
  /** Both POST. */
  actions: { resend: string; cancel: string };
}

/** A consent that can be withdrawn now, or that has been withdrawn. */
export interface ConsentStanding {
  /** Identifier of the answer on the page. */
  identifier: string;
  /** RFC 3339: when it was withdrawn; null if it can be withdrawn. */
  withdrawn: string | null;
  /** Whether it is a processing to which people object, instead of a consent. */
  isObjection?: boolean;
}

/** What the subject can withdraw on a page that shows answers. */
export interface WithdrawalChoice {
  /** POST with `elements`: the identifiers of consents. */
  url: string;
  standing: ConsentStanding[];
  /** Base URLs of peers that can be told to withdraw their part. */
  peers: string[];
}

/** What pages tell of answers that were given; absent before the commitment. */
interface GivenAnswers {
  /** Where the person can ask for a link to all choices. */
  choices?: string;
  receipt?: ReceiptBody;
  withdrawal?: WithdrawalChoice;
}

/** `result`: a final state, or answers that wait for peers. `child`: offers the child, or to withdraw. */
export interface ResultPage extends OfTransaction, GivenAnswers {
  page: 'result' | 'child';
  /** The elements of each part, in the order of `transaction.followers`. */
  asked: { title: string; lang: string }[][];
  /** In the same order: where the owner of a part shows the person the answers; null if nowhere. */
  choicesAt?: (string | null)[];
  /** Only for a withdrawal: peers that could still be told to withdraw their part of the parent. */
  keptBy?: string[];
  /** Whether the last code had expired or no attempt was left. */
  awaitsCode: boolean;
  /** RFC 3339: when the state was reached. */
  changed: string;
  /** RFC 3339: until when links open the receipt (committed). */
  receiptUntil?: string;
  /** POST: cancels the transaction. */
  cancel: string;
}

/** The receipt, in its own language. The renderer draws the QR code of `receipt.updateUrl`. */
export interface ReceiptPage extends Partial<OfTransaction>, GivenAnswers {
  page: 'receipt';
  receipt: ReceiptBody;
}

/** An error in HTML mode. The embedding page gets only `code`. `choices`: if the link does not work. */
export interface ErrorPage extends Pick<Partial<OfTransaction>, 'layout'>, Pick<GivenAnswers, 'choices'> {
  page: 'error';
  code: ProblemCode;
  /** The transaction was begun at the address of a form, and deleted because it was not finished in time. */
  isOver?: boolean;
  /** The only origin that gets the code; absent: any, as the transaction was not read or names none. */
  iframeOrigin?: string;
  /** Seconds, with 429 and 503. */
  retryAfter?: number;
  links?: {
    /** POST: starts again (410 of an updatable transaction). */
    child: string | null;
    /** GET: the transaction (409 `wrong-state`). */
    transaction: string | null;
  };
  /** A form post that came too late: the button that starts again sends its answers along. */
  entered?: Record<string, string[]>;
}

/**
 * Where the HTML of {@link ExportPart}s belongs in the HTML of an {@link ExportPage}. No text of a page can
 * contain it, because texts are escaped.
 */
export const exportMarker = '<!-- transactions-->';

/** The data of a person as one document, without the transactions (docs/erasure.md, "Access"). */
export interface ExportPage extends Omit<Schemas['SubjectExport'], 'transactions'> {
  page: 'export';
  /** RFC 3339 */
  at: string;
  /** How many transactions the document has. */
  count: number;
  /** Whether the person has older transactions, which are not in the document. */
  isCut: boolean;
}

/** Some of the transactions of an {@link ExportPage}. Its HTML is not a whole document. */
export interface ExportPart extends Pick<Schemas['SubjectExport'], 'transactions'> {
  page: 'export-part';
}

/** GET /demo/messages: messages that a demonstration keeps instead of sending them, newest first. */
export interface MessagesPage {
  page: 'messages';
  /** `html` of a mail; `sizes` of its attachments in bytes. */
  messages: (Schemas['DemoMessage'] & { html?: string; sizes: number[] })[];
}
