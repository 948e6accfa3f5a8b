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
}

/** An element that was shown and not answered. */
export type ReceiptUnanswered = Omit<ReceiptConsent, 'answer'>;

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
}

/** The members of a receipt's JSON body that pages show (docs/interface.md, "Receipts"). */
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
  /** The peer that showed the form, if one did; `author` is its name. */
  leader?: { location: string; id: string };
  author?: string;
  timestamp: string;
  expirationTimestamp?: string;
  /** `NONE`, or how a code confirmed the answers. */
  confirmation: string | { type: string; destination?: string | undefined; confirmedAt?: string };
  information: { identifier: string; lang?: string; texts: Record<string, unknown>; sha256: string };
  consents: ReceiptConsent[];
  /** Absent if every element has an answer. */
  unanswered?: ReceiptUnanswered[];
  /** Absent without elements of peers. */
  peers?: ReceiptPeer[];
  privacyPolicyUrl?: string;
  attributes?: Record<string, string>;
  updateUrl?: string;
  parent?: string;
}
