import { isObjection } from '#lib/contracts/element-rules.ts';
import type { ModelType } from './model.ts';
import { hasSentences, isEasyToRead } from './reading-level.ts';

/** The content of a version in one language. */
export type Texts = Readonly<Record<string, unknown>>;

/** What the law, or ISO/IEC 29184, expects content to say. */
export interface NoticeRule {
  /** Stable: programs and the pages of the console name the rule by it. */
  code: string;
  types: readonly ModelType[];
  /** The member to fill in. */
  member: string;
  /** What is expected, for programs. */
  detail: string;
  isMet(content: Texts): boolean;
  /** Whether the rule concerns this content; default: always. */
  concerns?(content: Texts): boolean;
  /** Why people would be told something wrong: the console does not activate such content. */
  bars?: string;
}

export const isSaid = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : typeof value === 'number' || (value ?? '') !== '';
const said =
  (...members: string[]) =>
  (content: Texts) =>
    members.some((member) => isSaid(memberAt(content, member)));
const basesOf = ({ legalBases }: Texts) => (Array.isArray(legalBases) ? legalBases : []);
const recipientsOf = ({ thirdParties }: Texts) => (Array.isArray(thirdParties) ? thirdParties : undefined);

/** Where people have the right to object (GDPR, article 21(1)). */
const objectionBases = ['LEGAL_BASIS_LEGITIMATE_INTEREST', 'LEGAL_BASIS_PUBLIC_INTEREST'];

/** The rules of GDPR, articles 6, 7, 9, 13 and 21, and of ISO/IEC 29184, by the type of the content. */
export const noticeRules = [
  {
    code: 'controller',
    types: ['information'],
    member: 'dataController/company',
    detail: 'says who is responsible',
    isMet: said('dataController/company'),
  },
  {
    code: 'controller-shown',
    types: ['information'],
    member: 'dataControllerVisible',
    detail: 'shows on the form who is responsible',
    isMet: ({ dataControllerVisible }) => dataControllerVisible === true,
    concerns: said('dataController/company'),
  },
  {
    code: 'controller-contact',
    types: ['information'],
    member: 'dataController/email',
    detail: 'says how to reach who is responsible',
    isMet: said('dataController/email', 'dataController/phoneNumber', 'dataController/address'),
  },
  {
    code: 'data-protection-officer',
    types: ['information'],
    member: 'dataProtectionOfficer',
    detail: 'says who the data protection officer is',
    isMet: said('dataProtectionOfficer'),
  },
  {
    code: 'supervisory-authority',
    types: ['information'],
    member: 'supervisoryAuthority',
    detail: 'says where people can complain',
    isMet: said('supervisoryAuthority'),
  },
  {
    code: 'privacy-policy',
    types: ['information'],
    member: 'privacyPolicyUrl',
    detail: 'says where the privacy policy is',
    isMet: said('privacyPolicyUrl'),
  },
  {
    // The form itself lists the rights.
    code: 'rights',
    types: ['information'],
    member: 'dataController/email',
    detail: 'gives an e-mail address or a telephone number, at which people exercise their rights',
    isMet: said('dataController/email', 'dataController/phoneNumber', 'dataProtectionOfficer'),
  },
  {
    code: 'purposes',
    types: ['processing'],
    member: 'purposes',
    detail: 'says what the data are used for',
    isMet: said('purposes'),
  },
  {
    code: 'legal-bases',
    types: ['processing'],
    member: 'legalBases',
    detail: 'says on which legal basis',
    isMet: said('legalBases'),
  },
  {
    code: 'retention',
    types: ['processing'],
    member: 'retention/fullText',
    detail: 'says how long the data are kept',
    isMet: said('retention/fullText', 'retention/label', 'retention/value'),
  },
  {
    code: 'recipients',
    types: ['processing'],
    member: 'thirdParties',
    detail: 'says who receives the data, or with an empty list that nobody does',
    isMet: ({ thirdParties }) => thirdParties !== undefined,
    bars: 'says neither who receives the data nor that nobody does',
  },
  {
    code: 'no-recipient',
    types: ['processing'],
    member: 'thirdParties',
    detail: 'names whom the data are shared with, if sharing is the purpose',
    isMet: (content) => recipientsOf(content)?.length !== 0,
    concerns: ({ purposes }) => Array.isArray(purposes) && purposes.includes('CONSENT_THIRD_PART_SHARING'),
    bars: 'must name whom the data are shared with',
  },
  {
    code: 'transfer',
    types: ['processing'],
    member: 'thirdParties',
    detail:
      'says of each recipient what it does and, outside the EEA, in which country and with what safeguards',
    isMet: (content) => (recipientsOf(content) ?? []).every((each) => isSaid((each as Texts | null)?.value)),
    concerns: (content) => (recipientsOf(content) ?? []).length > 0,
  },
  {
    code: 'special-categories',
    types: ['processing'],
    member: 'legalBases',
    detail: 'has consent as legal basis, which sensitive and medical data need (article 9)',
    isMet: (content) => basesOf(content).includes('LEGAL_BASIS_CONSENT'),
    concerns: ({ containsSensitiveData, containsMedicalData }) =>
      containsSensitiveData === true || containsMedicalData === true,
  },
  {
    code: 'needs-legal-basis',
    types: ['processing'],
    member: 'refusable',
    detail: 'has a legal basis other than consent, where people have no choice',
    isMet: (content) => basesOf(content).length > 0 && !basesOf(content).includes('LEGAL_BASIS_CONSENT'),
    concerns: ({ refusable }) => refusable === false,
    bars: 'needs a legal basis other than consent',
  },
  {
    code: 'objection-basis',
    types: ['processing'],
    member: 'legalBases',
    detail: 'rests on legitimate or public interest, where people can object',
    isMet: (content) => basesOf(content).some((basis) => objectionBases.includes(basis)),
    concerns: isObjection,
  },
  {
    code: 'withdrawal',
    types: ['layout'],
    member: 'existingElementsVisible',
    detail: 'shows answers that are still valid, so that a consent is withdrawn as easily as it was given',
    isMet: ({ existingElementsVisible }) => existingElementsVisible !== false,
  },
  {
    code: 'nothing-preselected',
    types: ['preference'],
    member: 'defaultValues',
    detail: 'chooses nothing beforehand that accepts',
    isMet: ({ options, defaultValues }) =>
      !(Array.isArray(options) && Array.isArray(defaultValues) && defaultValues.includes(options[1])),
    concerns: ({ valueType, includeDefault }) => valueType === 'TOGGLE' && includeDefault === true,
  },
  {
    code: 'reading-level',
    types: ['information', 'processing', 'preference', 'conditions', 'email'],
    member: '',
    detail: 'has sentences of at most 25 words on average',
    isMet: isEasyToRead,
    concerns: hasSentences,
  },
] as const satisfies readonly NoticeRule[];

/** The value of a member of the content, such as `retention/label`. */
function memberAt(content: Texts, path: string): unknown {
  return path.split('/').reduce<unknown>((value, name) => (value as Texts | undefined)?.[name], content);
}
