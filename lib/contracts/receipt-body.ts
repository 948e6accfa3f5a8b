/** An answered element on a receipt, with the texts shown (docs/interface.md, "Receipts"). */
export interface ReceiptConsent {
  identifier: string;
  type: 'processing' | 'preference' | 'conditions';
  lang: string;
  /** The texts shown, by member of the content (`title`, `data`, `usage`, `body`, `label`…). */
  texts: Record<string, unknown>;
  sha256: string;
  /** Options shown; `accepted` and `refused` for processing and conditions, none for notices. */
  options: string[];
  answer: string[];
  owner: string | null;
  /** RFC 3339: when the answer expires, if that is before `expirationTimestamp` of the receipt. */
  expirationTimestamp?: string;
  /** The consent that has ended; only on the receipt of a withdrawal. */
  withdraws?: { record: string; receiptId: string; given: string };
  /**
   * RFC 3339: when the consent was withdrawn, if that was after this answer was given and before it was
   * committed.
   */
  withdrawn?: string;
}

/** An element that was shown and not answered. */
export type ReceiptUnanswered = Omit<
  ReceiptConsent,
  'answer' | 'withdraws' | 'withdrawn' | 'expirationTimestamp'
>;

/** The texts shown, on a receipt. */
interface ReceiptTexts {
  identifier: string;
  lang: string;
  texts: Record<string, unknown>;
  sha256: string;
}

/** Elements of a peer. Their answers are on the peer's own receipt (docs/interface.md, "Receipts"). */
export interface ReceiptPeer {
  name: string;
  /** Base URL. */
  location: string;
  information: ReceiptTexts;
  elements: ReceiptTexts[];
  /** RFC 3339: when these answers were withdrawn, if that was before they were sent to the peer. */
  withdrawn?: string;
}

/** The members of a receipt's JSON body that pages show (docs/interface.md, "Receipts"). */
export interface ReceiptBody {
  receiptId: string;
  /** Absent on the receipt of answers to a form. */
  kind?: 'WITHDRAWAL';
  transaction: string;
  subject: string;
  subjectInfos?: Record<string, string> | undefined;
  object?: string | undefined;
  language: string;
  jurisdiction?: string | undefined;
  collector: { instance: string; name: string };
  collectionMethod: string;
  /** The peer that showed the form, if one did; `author` is its name. */
  leader?: { location: string; id: string };
  author?: string;
  timestamp: string;
  /**
   * When the last of the own answers expires. Absent if there are no own answers, or only answers to
   * conditions, which never expire.
   */
  expirationTimestamp?: string;
  /** `NONE`, or how a code confirmed the answers. */
  confirmation: string | { type: string; destination?: string | undefined; confirmedAt?: string };
  /** Signals of the browser that opened the form or sent the answers. */
  signals?: { gpc: true } | undefined;
  information: { identifier: string; lang?: string; texts: Record<string, unknown>; sha256: string };
  consents: ReceiptConsent[];
  /** Absent if every element has an answer. */
  unanswered?: ReceiptUnanswered[];
  /** Absent without elements of peers. */
  peers?: ReceiptPeer[];
  privacyPolicyUrl?: string | undefined;
  attributes?: Record<string, string> | undefined;
  /** How recorded answers were given; `document` is the SHA-256 of a scan. */
  collection?: { way: string; givenOn?: string; reference?: string; document?: string } | undefined;
  updateUrl?: string | undefined;
  parent?: string | undefined;
}
