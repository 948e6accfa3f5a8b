/** One element on a receipt: the texts as they were shown (docs/interface.md, "Receipts"). */
export interface ReceiptConsent {
  identifier: string;
  type: 'processing' | 'preference' | 'conditions';
  lang: string;
  /** The texts shown, by field name of §13 (`title`, `data`, `usage`, `body`, `label`…). */
  texts: Record<string, unknown>;
  sha256: string;
  /** Options offered; `accepted` and `refused` for processing and conditions, none for notices. */
  options: string[];
  answer: string[];
  owner: string | null;
}

/** An element that was shown and left without an answer. */
export type ReceiptUnanswered = Omit<ReceiptConsent, 'answer'>;

/** Texts as they were shown, on a receipt. */
interface ReceiptTexts {
  identifier: string;
  lang: string;
  texts: Record<string, unknown>;
  sha256: string;
}

/** What a peer asked: the answers are on the peer's own receipt (docs/interface.md, "Receipts"). */
export interface ReceiptPeer {
  name: string;
  /** Base URL. */
  location: string;
  information: ReceiptTexts;
  elements: ReceiptTexts[];
}

/** The receipt's JSON body (docs/interface.md, "Receipts"), as far as pages show it. */
export interface ReceiptBody {
  receiptId: string;
  transaction: string;
  subject: string;
  subjectInfos?: Record<string, string>;
  object?: string;
  language: string;
  jurisdiction?: string;
  collector: { instance: string; name: string };
  collectionMethod: string;
  /** Where the form was shown, if that was at a peer; `author` is its name. */
  leader?: { location: string; id: string };
  author?: string;
  timestamp: string;
  expirationTimestamp?: string;
  confirmation: string;
  information: { identifier: string; lang?: string; texts: Record<string, unknown>; sha256: string };
  consents: ReceiptConsent[];
  /** Absent: every element has an answer. */
  unanswered?: ReceiptUnanswered[];
  /** Absent: nothing was asked by peers. */
  peers?: ReceiptPeer[];
  privacyPolicyUrl?: string;
  attributes?: Record<string, string>;
  updateUrl?: string;
  parent?: string;
}
