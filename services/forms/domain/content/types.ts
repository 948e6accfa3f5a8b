import { legalBases, processingChoices, purposes } from '#lib/contracts/element-rules.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { longestOwnValidity } from '#lib/text/duration.ts';
import { visibleText } from '#lib/text/visible-text.ts';
import { checkThemeCss } from '../theme-css.ts';
import {
  addFault,
  duration,
  type Field,
  flag,
  integer,
  line,
  lines,
  listOf,
  listThatMayBeEmpty,
  mailRich,
  objectOf,
  oneLine,
  oneOf,
  required,
  rich,
  slowObjectOf,
  slowRequired,
  url,
  type ValueOf,
} from './fields.ts';

/** The data controller; also part of processing. */
const dataController = objectOf({
  company: line(),
  info: lines,
  address: lines,
  email: line(320),
  phoneNumber: line(64),
});

export const readInformation = slowObjectOf({
  title: required(line()),
  header: rich,
  footer: rich,
  jurisdiction: line(),
  dataController,
  scope: lines,
  dataProtectionOfficer: lines,
  supervisoryAuthority: lines,
  shortNoticeLink: url,
  privacyPolicyUrl: url,
  customPrivacyPolicyText: line(),
  jurisdictionVisible: flag,
  dataControllerVisible: flag,
  scopeVisible: flag,
  shortNoticeLinkVisible: flag,
});

const retentionMembers = objectOf({
  label: line(),
  value: integer(0, 10_000),
  unit: oneOf('DAY', 'WEEK', 'MONTH', 'YEAR'),
  fullText: lines,
});

/** How long data are kept: as text, or as a number with its unit. */
const retention: Field = (value, at, faults) => {
  const before = faults.length;
  const read = retentionMembers(value, at, faults);
  if (!read || faults.length > before) return read;
  if ((read.value === undefined) !== (read.unit === undefined))
    addFault(faults, at, 'invalid', 'value and unit belong together');
  else if (Object.keys(read).length === 0)
    addFault(faults, at, 'required', 'needs a label, a fullText, or a value with its unit');
  return read;
};

/** How long an answer holds, whatever form it is given in. */
const ownValidity = duration(longestOwnValidity, 'P1D');

const processingMembers = objectOf({
  title: required(line()),
  data: required(lines),
  retention: required(retention),
  usage: required(lines),
  purposes: listOf(oneOf(...purposes), 20),
  legalBases: listOf(oneOf(...legalBases), 20),
  containsSensitiveData: flag,
  containsMedicalData: flag,
  dataController,
  dataControllerVisible: flag,
  /** Empty: nobody receives the data. */
  thirdParties: listThatMayBeEmpty(objectOf({ name: required(line()), value: lines }), 50),
  refusable: flag,
  choice: oneOf(...processingChoices),
  validity: ownValidity,
});

/** A processing. Of the two words for how it is answered, `refusable` is stored for `NONE`. */
export const readProcessing: Field<Record<string, unknown>> = (value, at, faults) => {
  const before = faults.length;
  const read = processingMembers(value, at, faults);
  if (!read || faults.length > before) return read;
  const { choice, ...rest } = read;
  const isUnequal = rest.refusable !== undefined && (rest.refusable === false) !== (choice === 'NONE');
  if (choice !== undefined && isUnequal)
    addFault(faults, `${at}/choice`, 'differs-from-refusable', 'must say the same as refusable');
  if (choice === 'OBJECTION' && rest.legalBases?.includes('LEGAL_BASIS_CONSENT'))
    addFault(faults, `${at}/legalBases`, 'objection-to-consent', 'must not be consent: a consent is refused');
  if (choice === 'NONE') return { ...rest, refusable: false };
  return choice === 'OBJECTION' ? { ...rest, choice } : rest;
};

const preferenceMembers = objectOf({
  label: required(line()),
  description: lines,
  options: listOf(line(255), 50),
  valueType: required(
    oneOf('TOGGLE', 'CHECKBOXES', 'RADIO_BUTTONS', 'LIST_SINGLE', 'LIST_MULTI', 'FREE_TEXT'),
  ),
  includeDefault: flag,
  defaultValues: listOf(lines, 50),
  optional: flag,
  validity: ownValidity,
});

type Preference = ValueOf<typeof preferenceMembers>;

/** A preference: its valueType determines the valid options, and the options determine the valid defaults. */
export const readPreference: Field<Record<string, unknown>> = (value, at, faults) => {
  const before = faults.length;
  const read = preferenceMembers(value, at, faults);
  if (!read || faults.length > before) return read;
  // Defaults are compared with options, and are stored like them.
  if (read.valueType !== 'FREE_TEXT' && read.defaultValues)
    read.defaultValues = read.defaultValues.map(oneLine);
  checkOptions(read, `${at}/options`, faults);
  checkDefaults(read, `${at}/defaultValues`, faults);
  return read;
};

function checkOptions({ valueType, options = [] }: Preference, at: string, faults: Fault[]): void {
  if (valueType === 'FREE_TEXT') {
    if (options.length > 0) addFault(faults, at, 'invalid', 'must be left out: FREE_TEXT has no options');
    return;
  }
  if (options.length === 0) addFault(faults, at, 'required', 'is required');
  else if (valueType === 'TOGGLE' && options.length !== 2)
    addFault(faults, at, 'invalid', 'must be two for TOGGLE: the first refuses, the second accepts');
  const seen = options.map(visibleText);
  seen.forEach((option, index) => {
    if (seen.indexOf(option) !== index) addFault(faults, `${at}/${index}`, 'duplicate', 'is there already');
  });
}

function checkDefaults(content: Preference, at: string, faults: Fault[]): void {
  const { valueType, options = [], defaultValues = [] } = content;
  const several = valueType === 'CHECKBOXES' || valueType === 'LIST_MULTI';
  if (!several && defaultValues.length > 1) addFault(faults, at, 'too-many', `must be one for ${valueType}`);
  if (valueType === 'FREE_TEXT') return;
  defaultValues.forEach((given, index) => {
    if (!options.includes(given))
      addFault(faults, `${at}/${index}`, 'not-an-option', 'must be one of the options');
  });
}

export const readConditions = slowObjectOf({
  title: required(line()),
  body: slowRequired(rich),
  acceptLabel: line(120),
  rejectLabel: line(120),
  refusable: flag,
});

export const readEmail = slowObjectOf({
  sender: line(320),
  subject: required(line(255)),
  title: line(),
  body: slowRequired(mailRich),
  buttonLabel: line(120),
  footer: mailRich,
  signature: mailRich,
});

const maxCss = 64 * 1024;

/** A style sheet that may only change colours, type and spacing (docs/security.md, "Pages"). */
const css: Field<string> = (value, at, faults) => {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') return addFault(faults, at, 'invalid', 'must be a text');
  if (value.length > maxCss)
    return addFault(faults, at, 'too-long', `must have at most ${maxCss} characters`);
  for (const detail of checkThemeCss(value)) addFault(faults, at, 'invalid', detail);
  return value;
};

/** The path of an uploaded image, as its upload returned it. */
const logoPath: Field<string> = (value, at, faults) => {
  const given = line(200)(value, at, faults);
  if (given !== undefined && logoIdOf(given) === undefined)
    addFault(faults, at, 'invalid', 'must be the path of an uploaded logo, /assets/logos/<id>');
  return given;
};

/** The id in `/assets/logos/<id>`. */
export function logoIdOf(path: string): string | undefined {
  return /^\/assets\/logos\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(path)?.[1];
}

export const readTheme = objectOf({
  name: required(line()),
  icon: logoPath,
  css,
  logoPath,
  logoAltText: line(),
  logoPosition: oneOf('LEFT', 'CENTER', 'RIGHT'),
  colorScheme: oneOf('auto', 'light', 'dark'),
});
