/** The form as data, for pages and for JSON clients (docs/interface.md, "Forms"). No runtime code. */

import type { components } from '#lib/contracts/openapi.gen.ts';

type Schemas = components['schemas'];

/**
 * Content and its BCP 47 language, which may differ from the form's (docs/interface.md, "The consent
 * context").
 */
type Localised<Content> = Omit<Content, 'lang'> & { lang: string };

export type DataController = Schemas['DataController'];
export type InformationContent = Localised<Schemas['InformationContent']>;
export type ProcessingContent = Localised<Schemas['ProcessingContent']>;
export type PreferenceContent = Localised<Schemas['PreferenceContent']>;
export type ConditionsContent = Localised<Schemas['ConditionsContent']>;
export type Retention = ProcessingContent['retention'];

/** The subject's valid earlier answer to an element. */
export interface PreviousAnswer {
  identifier: string;
  answers: string[];
  /** RFC 3339. */
  created: string;
  /** The system from which it was taken over. */
  importedFrom?: string;
}

/** What differs between the version that the subject answered and the one that is shown. */
export type FormChange = Schemas['FormChange'];

interface FormItem<Type extends string, Content> {
  /** `element/<type>/<key>/<serial>`; the name of the form's field. */
  identifier: string;
  serial: string;
  entry: { key: string; type: Type; name: string };
  /** Name of the peer that owns it; null for own elements. */
  owner: string | null;
  content: Content;
  /** Allowed values; null for free text. */
  answers: string[] | null;
  required: boolean;
  multiple: boolean;
  previous: PreviousAnswer | null;
  /** Only if the subject's newest answer is to a version with another MAJOR. */
  change?: FormChange;
}

export type FormInformation = FormItem<'information', InformationContent>;
export type ProcessingElement = FormItem<'processing', ProcessingContent>;
export type PreferenceElement = FormItem<'preference', PreferenceContent>;
export type ConditionsElement = FormItem<'conditions', ConditionsContent>;
export type FormElement = ProcessingElement | PreferenceElement | ConditionsElement;

/** A peer that owns some of the form's elements, whose `owner` is its name. */
export interface FormPeer {
  name: string;
  location: string;
  info: FormInformation | null;
  elements: FormElement[];
  /** RFC 3339: when the peer last confirmed the copy; only if that was more than a day ago. */
  asOf?: string;
}

/** The texts of a form page around its content, for clients that render the form themselves. */
export type FormLabels = Schemas['FormLabels'];

/**
 * Layout options with every default filled in and texts in the form's language (docs/interface.md, "The
 * consent context").
 */
export interface FormLayout {
  orientation: 'VERTICAL' | 'HORIZONTAL';
  existingElementsVisible: boolean;
  validityVisible: boolean;
  acceptAllVisible: boolean;
  acceptAllText?: string;
  refuseAllText?: string;
  submitText?: string;
  cancelVisible: boolean;
  cancelText?: string;
  footerOnTop: boolean;
  includeIFrameResizer: boolean;
}

/** Names of form fields besides the identifiers of elements (docs/interface.md, "Answers"). */
export interface FormFields {
  /** Hidden field: the identifier of the information that was shown. */
  info: 'info';
  /** The comment of JSON clients; pages have no field for it. */
  comment: 'comment';
  /**
   * The button that was pressed: `submit` (default), `accept-all` or `refuse-all`. The last two override the
   * answers to every element that can be accepted and refused, and to TOGGLEs (element-rules.ts).
   */
  action: 'accord-action';
  /**
   * Hidden field for each shown element, and each shown information of a peer: its identifier, which names
   * the version that was shown; empty on a page without elements. Answers without an entry of their own
   * (empty check boxes, accept-all and refuse-all) are recorded for that version; without the field, for the
   * ACTIVE version.
   */
  shown: 'accord-shown';
  /**
   * Hidden field for each optional question with one answer whose earlier answer is selected: its identifier.
   * Sent without an answer, the person has cleared the earlier one.
   */
  earlier: 'accord-earlier';
}

export type FormAction = 'submit' | 'accept-all' | 'refuse-all';
