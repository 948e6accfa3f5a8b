import { legalBases, processingChoices, purposes } from '#lib/contracts/element-rules.ts';
import type { ElementType } from '../../models/read-model.ts';

/** A member of an element's content, as the editor shows it. */
export interface ContentField {
  /** Names of the members that lead to it, such as `retention.fullText`. */
  path: string;
  /**
   * `rows`: a list, whose places are the same in all languages. `not`: a switch that is on by default;
   * ticked, it is off. `defaults`: the answers with which a question begins. `duration`: one of `options`, or
   * none.
   */
  kind:
    | 'text'
    | 'textarea'
    | 'rich'
    | 'rows'
    | 'check'
    | 'not'
    | 'defaults'
    | 'select'
    | 'duration'
    | 'checks'
    | 'number'
    | 'url'
    | 'email'
    | 'color';
  /** Whether every language has its own value; other members mean the same in all. */
  isText?: boolean;
  isRequired?: boolean;
  /** One of several members of which one is required: the input is not marked as optional. */
  isNeeded?: boolean;
  /** Of rows: the members of an item. Without, the items are texts. */
  parts?: readonly string[];
  /** Last part of the message of its label, `content.<word>`. Default: the path. */
  word?: string;
  /** Of select, duration and checks. */
  options?: readonly string[];
}

const text = (path: string, more: Partial<ContentField> = {}): ContentField => ({
  path,
  kind: 'text',
  isText: true,
  ...more,
});
const required = { isRequired: true };
const long = (path: string, more: Partial<ContentField> = {}) => text(path, { kind: 'textarea', ...more });
/** Rich text (lib/contracts/rich-text.ts). */
const rich = (path: string, more: Partial<ContentField> = {}) => text(path, { kind: 'rich', ...more });
const flag = (path: string): ContentField => ({ path, kind: 'check' });
const not = (path: string, word: string): ContentField => ({ path, kind: 'not', word });

/** Who is responsible: a member of information and of processings. */
const controller: readonly ContentField[] = [
  { path: 'dataController.company', kind: 'text' },
  { path: 'dataController.address', kind: 'textarea' },
  { path: 'dataController.email', kind: 'email' },
  { path: 'dataController.phoneNumber', kind: 'text' },
  long('dataController.info'),
];

const fonts = ['Georgia, serif', 'Arial, Helvetica, sans-serif', 'ui-monospace, monospace'];
const valueTypes = ['RADIO_BUTTONS', 'CHECKBOXES', 'LIST_SINGLE', 'LIST_MULTI', 'TOGGLE', 'FREE_TEXT'];

/** How long an answer holds, whatever form it is given in. */
const validity: ContentField = {
  path: 'validity',
  kind: 'duration',
  options: ['P30D', 'P3M', 'P6M', 'P1Y', 'P2Y', 'P3Y', 'P5Y', 'P10Y', 'P15Y', 'P20Y', 'P30Y', 'P50Y'],
};

/** The members that the editor knows (openapi.yaml, ProcessingContent and others); it keeps all others. */
export const contentFields: Readonly<Record<ElementType, readonly ContentField[]>> = {
  processing: [
    text('title', required),
    long('data', required),
    long('usage', required),
    long('retention.fullText', { isNeeded: true }),
    text('thirdParties', { kind: 'rows', parts: ['name', 'value'] }),
    { path: 'retention.value', kind: 'number', isNeeded: true },
    { path: 'retention.unit', kind: 'select', options: ['DAY', 'WEEK', 'MONTH', 'YEAR'] },
    { path: 'purposes', kind: 'checks', options: purposes },
    { path: 'legalBases', kind: 'checks', options: legalBases },
    flag('containsSensitiveData'),
    flag('containsMedicalData'),
    { path: 'choice', kind: 'select', options: processingChoices, isRequired: true },
    validity,
    ...controller,
    not('dataControllerVisible', 'dataControllerHidden'),
  ],
  preference: [
    text('label', required),
    long('description'),
    text('options', { kind: 'rows' }),
    { path: 'valueType', kind: 'select', options: valueTypes, isRequired: true },
    flag('optional'),
    validity,
    text('defaultValues', { kind: 'defaults' }),
  ],
  conditions: [
    text('title', required),
    rich('body', required),
    text('acceptLabel'),
    text('rejectLabel'),
    not('refusable', 'refusable.conditions'),
  ],
  information: [
    text('title', required),
    rich('header'),
    rich('footer'),
    long('dataProtectionOfficer'),
    long('supervisoryAuthority'),
    long('scope'),
    text('customPrivacyPolicyText'),
    text('jurisdiction'),
    ...controller,
    { path: 'privacyPolicyUrl', kind: 'url' },
    flag('dataControllerVisible'),
    flag('scopeVisible'),
    flag('jurisdictionVisible'),
    { path: 'shortNoticeLink', kind: 'url' },
    flag('shortNoticeLinkVisible'),
  ],
  theme: [
    text('name', required),
    text('logoAltText'),
    { path: 'css.accent', kind: 'color' },
    { path: 'css.font', kind: 'select', options: fonts },
    { path: 'css.radius', kind: 'select', options: ['0', '0.25rem', '1rem'] },
    { path: 'css.width', kind: 'select', options: ['34rem', '60rem'] },
    { path: 'css.own', kind: 'textarea' },
    { path: 'logoPosition', kind: 'select', options: ['LEFT', 'CENTER', 'RIGHT'] },
    { path: 'colorScheme', kind: 'select', options: ['auto', 'light', 'dark'] },
  ],
  email: [
    text('subject', required),
    text('title'),
    rich('body', required),
    text('buttonLabel'),
    rich('footer'),
    rich('signature'),
  ],
};

/** The input lists of a list of rows: one for each member of its items, or one of texts. */
export function partPaths({ path, parts }: ContentField): string[] {
  return parts ? parts.map((part) => `${path}.${part}`) : [path];
}
