/** What pages show of withdrawals. No runtime code. */

/** A consent that can be withdrawn now, or that has been withdrawn. */
export interface ConsentStanding {
  /** Identifier of the answer on the page. */
  identifier: string;
  /** RFC 3339: when it was withdrawn; null if it can be withdrawn. */
  withdrawn: string | null;
}

/** What the subject can withdraw on a page that shows answers. */
export interface WithdrawalChoice {
  /** POST with `elements`: the identifiers of consents. */
  url: string;
  standing: ConsentStanding[];
  /** Base URLs of peers that can be told to withdraw their part. */
  peers?: string[];
}

/** An organisation that is told of a withdrawal. */
export interface PageRecipient {
  name: string;
  state: 'QUEUED' | 'DELIVERED' | 'ACKNOWLEDGED' | 'OVERDUE' | 'FAILED' | 'UNSUPPORTED';
  /** Whether it has acknowledged that it keeps data. */
  kept: boolean;
  /** RFC 3339: when the state was reached. */
  since: string;
}
