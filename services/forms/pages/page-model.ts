import type { FormElement, FormInformation } from '#lib/contracts/form-content.ts';
import type { MessageKind } from '#lib/contracts/messages.ts';
import type { PageBase } from '#lib/contracts/page-base.ts';
import type { EntryPage, FormPage, PageContent, ShownForm, ShownInformation } from '#lib/contracts/pages.ts';
import type { ProblemCode } from '#lib/errors/fail.ts';
import type { EnteredAnswers } from '../domain/entered-answers.ts';

/** A page as it is drawn. */
export type PageModel =
  | FormModel
  | EntryModel
  | Drawn<Exclude<PageContent, FormPage | EntryPage>>
  | MailPage
  | WelcomePage
  | HostPage
  | ProblemPage
  | ApiPage;

/** The model of a page about transactions. `information` names the organisation that asks. */
export type Drawn<Content extends Exclude<PageContent, FormPage>> = Content &
  PageBase & { information?: ShownInformation };

/** A form with what the subject answered and entered before. */
export interface FormModel
  extends PageBase,
    Pick<FormPage, 'page' | 'listsHidden' | 'peersOptional' | 'validity' | 'updatable' | 'gpc' | 'now'>,
    Partial<Pick<FormPage, 'transaction' | 'layout'>> {
  /** `info`: null in previews of a single element. */
  form: Omit<ShownForm, 'info'> & { info: FormInformation | null };
  /** Elements with a valid answer that are left out. */
  hidden: FormElement[];
  entered?: EnteredAnswers | undefined;
}

/** The page at the address of a form. `consolePath`: null without a console, where people sign in. */
export type EntryModel = Drawn<EntryPage> & { consolePath: string | null };

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

/** `/docs`: the contract, to read and try in a browser; the introduction, or one group of operations. */
export interface ApiPage extends PageBase {
  page: 'api';
  /** The parsed contract (OpenAPI 3.0.3). The rendered page is cached by this object. */
  document: Record<string, unknown>;
  /** The first part of addresses; undefined for the introduction. */
  group?: string | undefined;
  /**
   * Token endpoint and public client of the built-in issuer, to sign in on the page; null with an outside
   * issuer.
   */
  signIn: { tokenUrl: string; clientId: string } | null;
}
