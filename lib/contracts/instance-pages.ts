import type { MessageKind } from '#lib/contracts/messages.ts';
import type { PageBase } from '#lib/contracts/page-base.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';

/** GET /demo/messages: messages that a demonstration keeps instead of sending them, newest first. */
export interface MessagesPage extends PageBase {
  page: 'messages';
  messages: {
    /** RFC 3339 */
    at: string;
    from: string | null;
    to: string;
    /** Null for a text message. */
    mail: { subject: string; html: string; attachments: { name: string; bytes: number }[] } | null;
    text: string;
  }[];
}

/** Preview of an `email` model. */
export interface MailPage extends PageBase {
  page: 'mail';
  /** The kind of message that the model is for. */
  kind: MessageKind;
  /** Language of the content. */
  lang: string;
  /** The sender of the instance's mails; null if it is unknown. */
  from: string | null;
  mail: {
    subject: string;
    title?: string;
    /** Rich text. */
    body: string;
    buttonLabel?: string;
    /** Rich text. */
    footer?: string;
    /** Rich text. */
    signature?: string;
  };
}

/** `GET /`. */
export interface WelcomePage extends PageBase {
  page: 'welcome';
  version: string;
  /** Where staff sign in; null without a console. */
  consolePath: string | null;
  /** Null outside demo mode: then the page has only the name and links. */
  demo: {
    /** URL of a transaction whose form is embedded in the page. */
    formUrl: string;
    /** The sample site, see {@link HostPage}. */
    hostUrl: string;
    /** Token endpoint for the curl commands; null without them. */
    tokenUrl: string | null;
    accounts: { username: string; password: string; role: string }[];
  } | null;
}

/** A page of a sample site that embeds a form and shows the messages that it gets (demo mode). */
export interface HostPage extends PageBase {
  page: 'host';
  formUrl: string;
}

/** `/docs/problems/<code>`. */
export interface ProblemPage extends PageBase {
  page: 'problem';
  code: ProblemCode;
  status: number;
}

/** `/docs`: the contract, to read and try in a browser. */
export interface ApiPage extends PageBase {
  page: 'api';
  /** The parsed contract (OpenAPI 3.0.3). The rendered page is cached by this object. */
  document: Record<string, unknown>;
  /**
   * Token endpoint and public client of the built-in issuer, to sign in on the page; null with an outside
   * issuer.
   */
  signIn: { tokenUrl: string; clientId: string } | null;
}
