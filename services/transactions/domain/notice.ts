/** What an organisation knows of a withdrawal (docs/withdrawal.md, "Recipients"). */
export interface Notice {
  /** The organisation's name. */
  name: string;
  /** `RECIPIENT`: the organisation behind a webhook. */
  kind: 'RECIPIENT' | 'PEER';
  state: NoticeState;
  /** What it has done, once ACKNOWLEDGED. `kept`: it keeps data, for example because a law requires it. */
  outcome: string | null;
  /** A text by the organisation, for operators. */
  note: string | null;
  /** When it entered the state. */
  since: Date;
}

/** `UNSUPPORTED`: a peer that cannot be told. */
export type NoticeState = 'QUEUED' | 'DELIVERED' | 'ACKNOWLEDGED' | 'OVERDUE' | 'FAILED' | 'UNSUPPORTED';
