import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { ShownInformation } from '#lib/contracts/pages.ts';

/** `choices`: links to what is kept of a person; it belongs to no transaction. */
export type MessageKind =
  | 'invitation'
  | 'code'
  | 'notification'
  | 'bad-news'
  | 'withdrawal'
  | 'choices'
  | 'campaign';
/** Why a person is asked again. */
type CampaignReason = components['schemas']['CampaignMember']['reason'];
export type MessageChannel = 'mail' | 'sms';

/** Facts of a message to a subject, written in the subject's language. */
export interface MessageContent {
  kind: MessageKind;
  channel: MessageChannel;
  /** BCP 47, best first. */
  languages: string[];
  instance: PageInstance;
  /** The organisation that asks: the data controller, else the instance's name. */
  organisation: string;
  /** Title of the information: the purpose of the answers; null if it is not known. */
  purpose: string | null;
  /**
   * Key or entry id of the `email` model that replaces the built-in text. Null: `message.<kind>`, if that is
   * an ACTIVE `email` model.
   */
  model: string | null;
  /** Key or entry id of the theme, for the alternative text of its logo: mails load no image. */
  theme: string | null;
  /** URL that the button opens; null without a button (codes). */
  link: string | null;
  /** Six digits; null except for codes. */
  code: string | null;
  /** Life of the code in minutes; null except for codes. */
  minutes: number | null;
  /** RFC 3339: until when the link can be used; null if it is not known. */
  until: string | null;
  /**
   * Only for `bad-news`: peers that did not store their part or (`late`) did not acknowledge it in time, with
   * the titles of its elements. Empty if all answers were rolled back.
   */
  owners: { name: string; late?: boolean; elements: MessageElement[] }[];
  /**
   * Only for `withdrawal`: what was withdrawn, or (`isObjection`) what the person objects to. `peer` asked
   * the questions, null: this instance did.
   */
  withdrawn?: { peer: string | null; isObjection?: boolean; elements: MessageElement[] }[];
  /**
   * Only for `choices`, if several people have the address: a link for each, with its masked name. `link` is
   * the first one.
   */
  links?: { name: string; url: string }[];
  /** Only for `campaign`: why the person is asked again, and the address that ends such messages. */
  campaign?: { reason: CampaignReason; isReminder: boolean; unsubscribe: string };
  /** Only for `notification`: the receipt could not be attached as a PDF. */
  isReceiptLeftOut?: boolean;
}

/** A message to be composed. */
export interface MessageRequest extends Omit<MessageContent, 'instance' | 'organisation' | 'purpose'> {
  /** The information under which was asked; absent: the current one of the layout. */
  information?: ShownInformation | undefined;
  /** Null for a message about no transaction: it is from the instance. */
  layout: PinnedLayout | null;
}

/** An element with the title that the subject has seen. */
export interface MessageElement {
  title: string;
  lang: string;
}

export interface RenderedMessage {
  /** Language of the text, BCP 47. */
  language: string;
  /** Null for an SMS. */
  subject: string | null;
  /** Plain text, complete without the HTML. */
  text: string;
  /** Null for an SMS. */
  html: string | null;
}
