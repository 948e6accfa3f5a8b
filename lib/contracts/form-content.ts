/** The form as data, for pages and for JSON clients (docs/interface.md, "Forms"). No runtime code. */

interface Localised {
  /**
   * BCP 47 language of this content; may differ from the form's (docs/interface.md, "The consent context").
   */
  lang: string;
}

export interface DataController {
  company?: string;
  info?: string;
  address?: string;
  email?: string;
  phoneNumber?: string;
}

/**
 * `header` and `footer` are rich text, sanitised when stored and again when rendered.
 * `customPrivacyPolicyText` is a link text.
 */
export interface InformationContent extends Localised {
  title: string;
  header?: string;
  footer?: string;
  jurisdiction?: string;
  dataController?: DataController;
  scope?: string;
  shortNoticeLink?: string;
  privacyPolicyUrl?: string;
  customPrivacyPolicyText?: string;
  jurisdictionVisible?: boolean;
  dataControllerVisible?: boolean;
  scopeVisible?: boolean;
  shortNoticeLinkVisible?: boolean;
}

export interface Retention {
  label?: string;
  value?: number;
  unit?: 'DAY' | 'WEEK' | 'MONTH' | 'YEAR';
  fullText?: string;
}

export type Purpose =
  | 'CONSENT_CORE_SERVICE'
  | 'CONSENT_IMPROVED_SERVICE'
  | 'CONSENT_MARKETING'
  | 'CONSENT_THIRD_PART_SHARING'
  | 'CONSENT_RESEARCH';

export type LegalBasis =
  | 'LEGAL_BASIS_CONSENT'
  | 'LEGAL_BASIS_CONTRACT'
  | 'LEGAL_BASIS_LEGITIMATE_INTEREST'
  | 'LEGAL_BASIS_LEGAL_OBLIGATION'
  | 'LEGAL_BASIS_PUBLIC_INTEREST'
  | 'LEGAL_BASIS_VITAL_INTEREST';

export interface ProcessingContent extends Localised {
  title: string;
  data: string;
  retention: Retention;
  usage: string;
  purposes?: Purpose[];
  legalBases?: LegalBasis[];
  containsSensitiveData?: boolean;
  containsMedicalData?: boolean;
  dataController?: DataController;
  /** True by default. */
  dataControllerVisible?: boolean;
  thirdParties?: { name: string; value?: string }[];
  /** True by default. */
  refusable?: boolean;
}

export type ValueType =
  | 'TOGGLE'
  | 'CHECKBOXES'
  | 'RADIO_BUTTONS'
  | 'LIST_SINGLE'
  | 'LIST_MULTI'
  | 'FREE_TEXT';

export interface PreferenceContent extends Localised {
  label: string;
  description?: string;
  options?: string[];
  valueType: ValueType;
  includeDefault?: boolean;
  defaultValues?: string[];
  optional?: boolean;
}

/** `body` is rich text. */
export interface ConditionsContent extends Localised {
  title: string;
  body: string;
  acceptLabel?: string;
  rejectLabel?: string;
  /** True by default. */
  refusable?: boolean;
}

/** The subject's valid earlier answer to an element. */
export interface PreviousAnswer {
  identifier: string;
  answers: string[];
  /** RFC 3339. */
  created: string;
}

interface FormItem<Type extends string, Content extends Localised> {
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

/**
 * The texts of a form page around its content, for clients that render the form themselves (openapi.yaml,
 * FormLabels).
 */
export interface FormLabels {
  lang: string;
  accept: string;
  refuse: string;
  submit: string;
  acceptAll?: string;
  refuseAll: string;
  cancel?: string;
  /** Confirmation before a form with entered answers is cancelled. */
  cancelQuestion?: { title: string; text: string; keep: string; discard: string };
  optional: string;
  purposes: Record<string, string>;
  legalBases: Record<string, string>;
  headings: Record<string, string>;
  words: Record<string, string>;
  rights: { title: string; change: string; more: string };
  validity?: string;
  expires?: string;
  /** By identifier. */
  elements: Record<
    string,
    { answers?: Record<string, string>; hint?: string; retention?: string; previous?: string }
  >;
  /** By location. */
  peers: Record<string, { title: string; note: string; asOf?: string }>;
  faults: Record<string, string>;
}

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
  submitText?: string;
  cancelVisible: boolean;
  cancelText?: string;
  footerOnTop: boolean;
  includeIFrameResizer: boolean;
}
