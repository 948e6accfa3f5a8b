import type { ModelType, VersionData } from './model.ts';

/** A point of the law or of good practice, and whether a draft meets it. */
export interface ChecklistPoint {
  code: (typeof checklistCodes)[number];
  met: boolean;
  /** JSON pointers of what lacks, in each language that lacks it; empty if the point is met. */
  pointers: string[];
}

export const checklistCodes = [
  'controller',
  'controller-shown',
  'controller-contact',
  'data-protection-officer',
  'supervisory-authority',
  'privacy-policy',
  'purposes',
  'legal-bases',
  'retention',
  'recipients',
  'special-categories',
  'translations',
] as const;

type Texts = Readonly<Record<string, unknown>>;

interface Rule {
  code: ChecklistPoint['code'];
  /** The member to fill in. */
  member: string;
  isMet(content: Texts): boolean;
  /** Whether the point concerns this content; default: always. */
  concerns?(content: Texts): boolean;
}

const isSaid = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : typeof value === 'number' || (value ?? '') !== '';
const said =
  (...members: string[]) =>
  (content: Texts) =>
    members.some((member) => isSaid(at(content, member)));

/** GDPR, article 13(1) and (2). */
const information: readonly Rule[] = [
  { code: 'controller', member: 'dataController/company', isMet: said('dataController/company') },
  {
    code: 'controller-shown',
    member: 'dataControllerVisible',
    isMet: ({ dataControllerVisible }) => dataControllerVisible === true,
    concerns: said('dataController/company'),
  },
  {
    code: 'controller-contact',
    member: 'dataController/email',
    isMet: said('dataController/email', 'dataController/phoneNumber', 'dataController/address'),
  },
  {
    code: 'data-protection-officer',
    member: 'dataProtectionOfficer',
    isMet: said('dataProtectionOfficer'),
  },
  { code: 'supervisory-authority', member: 'supervisoryAuthority', isMet: said('supervisoryAuthority') },
  { code: 'privacy-policy', member: 'privacyPolicyUrl', isMet: said('privacyPolicyUrl') },
];

/** GDPR, articles 6, 9 and 13(1). */
const processing: readonly Rule[] = [
  { code: 'purposes', member: 'purposes', isMet: said('purposes') },
  { code: 'legal-bases', member: 'legalBases', isMet: said('legalBases') },
  {
    code: 'retention',
    member: 'retention/fullText',
    isMet: said('retention/fullText', 'retention/label', 'retention/value'),
  },
  {
    code: 'recipients',
    member: 'thirdParties',
    // An empty list says that there are none.
    isMet: ({ thirdParties }) => thirdParties !== undefined,
  },
  {
    code: 'special-categories',
    member: 'legalBases',
    isMet: ({ legalBases }) => Array.isArray(legalBases) && legalBases.includes('LEGAL_BASIS_CONSENT'),
    concerns: ({ containsSensitiveData, containsMedicalData }) =>
      containsSensitiveData === true || containsMedicalData === true,
  },
];

const rules: Readonly<Partial<Record<ModelType, readonly Rule[]>>> = { information, processing };

/**
 * What the law expects an element to say, in every language, and that each text exists in all languages. It
 * bars nothing: an organisation may say it elsewhere. Types that no person is asked about have no points.
 */
export function checklistOf(type: ModelType, data: VersionData): ChecklistPoint[] {
  if (type === 'layout' || type === 'theme') return [];
  const contents = Object.entries(data) as [string, Texts][];
  const points = (rules[type] ?? []).flatMap(({ code, member, isMet, concerns = () => true }) => {
    const concerned = contents.filter(([, content]) => concerns(content));
    if (concerned.length === 0) return [];
    const lacking = concerned.filter(([, content]) => !isMet(content));
    return [
      pointOf(
        code,
        lacking.map(([language]) => `/data/${language}/${member}`),
      ),
    ];
  });
  if (contents.length < 2) return points;
  return [...points, pointOf('translations', untranslated(contents))];
}

function pointOf(code: ChecklistPoint['code'], pointers: string[]): ChecklistPoint {
  return { code, met: pointers.length === 0, pointers };
}

/** Texts that some languages have and others do not. */
function untranslated(contents: readonly [string, Texts][]): string[] {
  const members = new Set(contents.flatMap(([, content]) => Object.keys(content)));
  return [...members].flatMap((member) => {
    const isText = contents.some(
      ([, content]) => typeof content[member] === 'string' && isSaid(content[member]),
    );
    const lacking = contents.filter(([, content]) => !isSaid(content[member]));
    return isText ? lacking.map(([language]) => `/data/${language}/${member}`) : [];
  });
}

function at(content: Texts, path: string): unknown {
  return path.split('/').reduce<unknown>((value, name) => (value as Texts | undefined)?.[name], content);
}
