import type { SendResult } from '#lib/mail/mail-transport.ts';

/** A text message ready to be sent. */
export interface OutgoingSms {
  id: string;
  /** Null: the gateway chooses the sender. */
  from: string | null;
  /** E.164 */
  to: string;
  text: string;
}

export interface SmsTransport {
  /** @param onData is called before the request is sent: until then the gateway cannot have accepted it. */
  send(sms: OutgoingSms, signal: AbortSignal, onData?: () => void): Promise<SendResult>;
  close(): Promise<void>;
}
