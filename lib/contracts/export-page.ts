import type { PageBase, TransactionState } from '#lib/contracts/page-base.ts';
import type { PageRecipient } from '#lib/contracts/page-withdrawal.ts';
import type { PagePart } from '#lib/contracts/pages.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';

/**
 * Where the HTML of {@link ExportPart}s belongs in the HTML of an {@link ExportPage}. No text of a page can
 * contain it, because texts are escaped.
 */
export const exportMarker = '<!-- transactions-->';

/** The data of a person as one document, without the transactions (docs/erasure.md, "Access"). */
export interface ExportPage extends PageBase {
  page: 'export';
  /** RFC 3339 */
  at: string;
  subject: {
    id: string;
    name: string;
    emailAddress?: string | undefined;
    defaultLanguage?: string | undefined;
    /** RFC 3339 */
    created: string;
  };
  /** How many transactions the document has. */
  count: number;
  /** Whether the person has older transactions, which are not in the document. */
  isCut: boolean;
  peers: { name: string; location: string }[];
  /** Lines of the audit log, newest first. */
  audit: { at: string; action: string; by: string }[];
  /** The hold that is in force. */
  hold?: { reason: string; restrict: boolean; since: string; until?: string | undefined } | undefined;
  /** Newest first. */
  erasures: ExportedErasure[];
}

/** An erasure that was requested. */
export interface ExportedErasure {
  id: string;
  /** Base URL of the peer that asks. */
  peer?: string | undefined;
  state: 'REQUESTED' | 'RUNNING' | 'HELD' | 'DONE' | 'REFUSED';
  reason?: string | undefined;
  /** Why it was refused. */
  ground?: string | undefined;
  created: string;
  due: string;
  done?: string | undefined;
}

/** Some of the transactions of an {@link ExportPage}. Its HTML is not a whole document. */
export interface ExportPart extends PageBase {
  page: 'export-part';
  transactions: ExportedTransaction[];
}

/** A transaction of an export. Times are RFC 3339. */
export interface ExportedTransaction {
  id: string;
  state: TransactionState;
  kind?: 'WITHDRAWAL' | undefined;
  created: string;
  changed: string;
  /** Who acted, if the context names an author; STAFF for every name but that of the person. */
  author?: 'SUBJECT' | 'STAFF' | undefined;
  context: {
    origin: string;
    /** ISO 8601 */
    validity: string;
    callback?: string | undefined;
    notificationRecipient?: string | undefined;
    object?: string | undefined;
    subjectInfos?: Record<string, string> | undefined;
    attributes?: Record<string, string> | undefined;
  };
  records: ExportedRecord[];
  receipt?: ReceiptBody | undefined;
  messages: ExportedMessage[];
  recipients: (Pick<PageRecipient, 'name' | 'state' | 'since'> & { outcome?: string | undefined })[];
  /** Parts that peers own. */
  parts: (Pick<PagePart, 'owner' | 'state' | 'withdrawn'> & { location: string })[];
}

/** An answer of a transaction. */
export interface ExportedRecord {
  /** Identifier of the question. */
  element: string;
  answers: string[];
  state: string;
  comment?: string;
  created: string;
  expires?: string;
}

/** A message to the person, with the masked address. */
export interface ExportedMessage {
  kind: string;
  channel: 'mail' | 'sms';
  destination: string;
  state: string;
  created: string;
  sent?: string;
}
