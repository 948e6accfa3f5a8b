/** A mail ready to be sent. */
export interface OutgoingMail {
  /** Id of the message. `Message-ID` contains it, so that mail servers can recognise a repetition. */
  id: string;
  /** An address, or `Name <address>`. */
  from: string;
  /** One address. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /** BCP 47. */
  language: string;
  attachments: { filename: string; contentType: string; content: Buffer }[];
}

/** A text message ready to be sent. */
export interface OutgoingSms {
  id: string;
  /** Null: the gateway chooses the sender. */
  from: string | null;
  /** E.164 */
  to: string;
  text: string;
}

/**
 * Result of one attempt. `refused`: the server will never accept this message. `error` is a class without
 * content or addresses, such as `smtp-550`, `timeout`, `tls`, `http-503`.
 */
export type SendResult =
  | { result: 'sent' }
  /** @param isAway the reply concerns us, not this message: others would fail, too. */
  | { result: 'refused' | 'failed'; error: string; isAway?: boolean };

export interface MailTransport {
  send(mail: OutgoingMail, signal: AbortSignal): Promise<SendResult>;
  /** Connects and signs in, as for a mail. @returns the failure; undefined if the server is ready. */
  check(): Promise<SendResult | undefined>;
  close(): Promise<void>;
}

export interface SmsTransport {
  send(sms: OutgoingSms, signal: AbortSignal): Promise<SendResult>;
  close(): Promise<void>;
}
