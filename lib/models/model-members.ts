/** The members of each type of model in the order of its files; others follow by name. */
const order: Readonly<Record<string, readonly string[]>> = {
  information: [
    'title',
    'header',
    'footer',
    'dataController',
    'dataProtectionOfficer',
    'supervisoryAuthority',
    'privacyPolicyUrl',
    'customPrivacyPolicyText',
    'scope',
    'jurisdiction',
    'shortNoticeLink',
    'dataControllerVisible',
    'scopeVisible',
    'jurisdictionVisible',
    'shortNoticeLinkVisible',
  ],
  processing: [
    'title',
    'data',
    'usage',
    'retention',
    'thirdParties',
    'purposes',
    'legalBases',
    'containsSensitiveData',
    'containsMedicalData',
    'dataController',
    'dataControllerVisible',
    'refusable',
    'choice',
    'validity',
  ],
  preference: [
    'label',
    'description',
    'valueType',
    'options',
    'includeDefault',
    'defaultValues',
    'optional',
    'validity',
  ],
  conditions: ['title', 'body', 'acceptLabel', 'rejectLabel', 'refusable'],
  layout: [
    'type',
    'info',
    'elements',
    'theme',
    'notification',
    'orientation',
    'public',
    'context',
    'submitText',
    'acceptAllText',
    'refuseAllText',
    'cancelText',
  ],
  theme: ['name', 'css', 'colorScheme', 'icon', 'logoPath', 'logoPosition', 'logoAltText'],
  email: ['subject', 'title', 'body', 'buttonLabel', 'footer', 'signature'],
};

/** Members that people read, which belong to a language also where two languages have the same words. */
const texts: ReadonlySet<string> = new Set([
  ...['title', 'header', 'footer', 'customPrivacyPolicyText', 'scope', 'jurisdiction', 'dataController/info'],
  ...['data', 'usage', 'retention/label', 'retention/fullText', 'thirdParties'],
  ...['label', 'description', 'options', 'defaultValues', 'body', 'acceptLabel', 'rejectLabel'],
  ...['submitText', 'acceptAllText', 'refuseAllText', 'cancelText', 'logoAltText'],
  ...['subject', 'buttonLabel', 'signature', 'dataProtectionOfficer', 'supervisoryAuthority'],
]);

/** Rich text, and style sheets: kept in files of their own unless they are short. */
const inFiles: Readonly<Record<string, string>> = {
  header: 'html',
  footer: 'html',
  body: 'html',
  signature: 'html',
  css: 'css',
};

/** Longest text that stays in the YAML file, in characters. */
const longestInline = 120;

/** Whether a member such as `retention/label` belongs to a language. An empty list is no text. */
export function isText(member: string, value: unknown): boolean {
  return texts.has(member) && !(Array.isArray(value) && value.length === 0);
}

/** The extension of the file that keeps a text; undefined if it stays in the YAML file. */
export function extensionOf(member: string, value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length <= longestInline) return undefined;
  return Object.hasOwn(inFiles, member) ? inFiles[member] : undefined;
}

/** Whether a member of a theme names an image. */
export function isImage(member: string): boolean {
  return member === 'icon' || member === 'logoPath';
}

/** Sorts the members of a model's content as files have them. */
export function inFileOrder(type: string, members: readonly string[]): string[] {
  const known = order[type] ?? [];
  const rank = (member: string) => {
    const place = known.indexOf(member.split('/')[0] ?? '');
    return place < 0 ? known.length : place;
  };
  return members.toSorted((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}
