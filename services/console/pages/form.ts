import type { Fault } from '#lib/errors/fail.ts';
import type { ApiFailure } from '../api/api-failure.ts';
import type { ConsoleReader } from './console-reader.ts';
import { failureText } from './failure-page.ts';

/** A field of a form. Its name is also the JSON pointer of its faults, without the slash, unless given. */
export interface FieldSpec {
  name: string;
  label: string;
  kind?:
    | 'text'
    | 'email'
    | 'tel'
    | 'url'
    | 'password'
    | 'number'
    | 'color'
    | 'date'
    | 'datetime-local'
    | 'textarea'
    | 'select'
    | 'radios'
    | 'checks'
    | 'check'
    | 'file';
  hint?: string;
  isRequired?: boolean;
  /** Needed later, or one of several: neither demanded by the browser nor marked as optional. */
  isNeeded?: boolean;
  /** Of select, radios and checks. */
  options?: readonly Choice[];
  /** Of checks: the heading above options that follow each other. */
  sectionOf?: (value: string) => string;
  /** Of checks: whether the value of an option stands beside its label. */
  showsValues?: boolean;
  /** JSON pointer of the member of the API's body that the field fills, or of the members. */
  pointer?: string | readonly string[];
  /** What tells the field apart from others with its label, such as a language. */
  group?: string;
  maxLength?: number;
  autocomplete?: string;
  /** A key, URL or code, written from left to right in every language. */
  isCode?: boolean;
  /** Of a textarea with rich text: its direction, and what a link may have beside URLs. */
  rich?: { dir: 'ltr' | 'rtl'; placeholder?: string };
  /** Of a file: the media types that are offered, as in HTML. */
  accept?: string;
  /** Of a file: the textarea that a script fills with its text. */
  into?: string;
}

/** A field as the mixin `+field` prints it. */
export interface FieldView extends Omit<FieldSpec, 'options'> {
  id: string;
  kind: NonNullable<FieldSpec['kind']>;
  value: string;
  options: { id: string; value: string; label: string; checked: boolean; section?: string }[];
  /** Marked as optional; a choice always has a value. */
  isOptional: boolean;
  fault?: string;
  /** Language of the fault, if it is another than the page's. */
  faultLang?: string;
  /** Value of `aria-describedby`. */
  describedBy?: string;
}

/** A form as the mixin `+form` prints it. */
export interface FormView {
  action: string;
  /** Absent unless the form has a file. */
  enctype?: 'multipart/form-data';
  target?: '_blank';
  submit: string;
  /** Of the button: primary once on a page, or outlined for an end that cannot be undone. */
  tone: 'primary' | 'plain' | 'ending';
  cancelUrl?: string;
  fields: FieldView[];
  byName: Readonly<Record<string, FieldView>>;
  /** Above the faults: how many entries they concern, or that nothing was done. */
  faultsTitle: string;
  /** Faults with the field that each concerns; `href` is absent if it is none of them. */
  faults: {
    id?: string;
    href?: string;
    label?: string;
    text: string;
    lang?: string;
    /** The API's own words below the text, which are English. */
    detail?: string;
  }[];
  once?: string;
  /** Says that the form is shown again after a sign-in, and was not carried out. */
  keptNote?: string;
  hidden: Readonly<Record<string, string>>;
}

export interface FormInput {
  action: string;
  submit: string;
  tone?: FormView['tone'];
  cancelUrl?: string;
  /** Default: none, for a form that is a button. */
  fields?: readonly FieldSpec[];
  /** The values to show: stored ones, or those that were typed. */
  values?: PostedForm | Readonly<Record<string, string | readonly string[] | undefined>>;
  failure?: ApiFailure;
  /** The page with the fields that faults concern, if it is another one. */
  elsewhere?: { url: string; fields: readonly FieldSpec[] };
  /** From `tools.once.make()`, in forms that create something. */
  once?: string;
  hidden?: Readonly<Record<string, string>>;
  /** Whether the values were kept during a sign-in. */
  isKept?: boolean;
  /** Whether the answer opens in a new tab, because it leads out of the console. */
  opensTab?: boolean;
}

/** The fields of a posted form; a field may have several values. */
export type PostedForm = Readonly<Record<string, readonly string[]>>;

/** What a field has beside its words. */
type FieldRest = Partial<Omit<FieldSpec, 'name'>> & {
  /** Message of the label, below the prefix. Default: the name of the field. */
  word?: string;
};

/** Makes fields: the label is the message `<prefix>.<word>`, the hint `<prefix>.<word>Hint` if it exists. */
export function fieldsFor({ t, has }: ConsoleReader, prefix: string) {
  return (
    name: string,
    { word = name, label = t(`${prefix}.${word}`), ...rest }: FieldRest = {},
  ): FieldSpec => {
    const hint = `${prefix}.${word}Hint`;
    return { name, label, ...(has(hint) && { hint: t(hint) }), ...rest };
  };
}

/** An option of a choice. */
export type Choice = readonly [value: string, label: string];

/** Options for codes of the API. @param group of their words. */
export function wordChoices(
  reader: Pick<ConsoleReader, 'word'>,
  group: string,
  codes: readonly string[],
): Choice[] {
  return codes.map((code) => [code, reader.word(group, code)]);
}

/** Options for languages. */
export function languageChoices(
  { languageName }: Pick<ConsoleReader, 'languageName'>,
  tags: readonly string[],
): Choice[] {
  return tags.map((tag) => [tag, languageName(tag)]);
}

/** The first value of a posted field, without space around it; empty without the field. */
export type ReadField = (name: string) => string;

/** Reads the fields of a posted form. */
export function readerOf(posted: PostedForm): ReadField {
  return (name) => posted[name]?.[0]?.trim() ?? '';
}

/** The API tells thousands of faults of a draft in many languages, and each is compared with all fields. */
const mostFaults = 200;

/** Makes the view of a form. All values stay; each fault is at its field and in the summary. */
export function formView(reader: ConsoleReader, input: FormInput): FormView {
  const { fields: specs = [], elsewhere } = input;
  const faults = input.failure ? faultsOf(reader, { specs, elsewhere }, input.failure) : [];
  // The first fault of a field.
  const faultAt = new Map([...faults].reverse().map((fault) => [fault.id, fault]));
  const fields = specs.map((spec): FieldView => {
    const { name, kind = 'text', hint } = spec;
    const given = [input.values?.[name] ?? []].flat();
    const id = `field-${name}`;
    const fault = faultAt.get(id);
    const describedBy = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(' ');
    const sections = (spec.options ?? []).map(([value]) => spec.sectionOf?.(value));
    const options = (spec.options ?? []).map(([value, label], index) => {
      const section = sections[index];
      return {
        id: index === 0 ? id : `${id}-${index}`,
        value,
        label,
        checked: given.includes(value),
        ...(section !== undefined && section !== sections[index - 1] && { section }),
      };
    });
    return {
      ...spec,
      id,
      kind,
      value: given[0] ?? '',
      options,
      isOptional: !spec.isRequired && !spec.isNeeded && kind !== 'select' && kind !== 'color',
      ...(fault && { fault: fault.text }),
      ...(fault?.lang && { faultLang: fault.lang }),
      ...(describedBy && { describedBy }),
    };
  });
  return {
    action: input.action,
    ...(specs.some(({ kind }) => kind === 'file') && { enctype: 'multipart/form-data' }),
    ...(input.opensTab && { target: '_blank' }),
    submit: input.submit,
    tone: input.tone ?? 'primary',
    ...(input.cancelUrl && { cancelUrl: input.cancelUrl }),
    fields,
    byName: Object.fromEntries(fields.map((field) => [field.name, field])),
    faults,
    faultsTitle: titleOf(reader, faults),
    ...(input.once && { once: input.once }),
    ...(input.isKept && { keptNote: reader.t('form.kept') }),
    hidden: input.hidden ?? {},
  };
}

/** The faults by field. If none is about a field, and the problem has a sentence of its own, that one. */
function faultsOf(
  reader: ConsoleReader,
  places: { specs: readonly FieldSpec[]; elsewhere: FormInput['elsewhere'] },
  failure: ApiFailure,
): FormView['faults'] {
  const told = failure.errors.slice(0, mostFaults);
  const faults = told.map((fault) => placeFault(reader, places, fault));
  const isPlaced = faults.some(({ href }) => href !== undefined);
  const isNamed = failure.code !== 'invalid' && reader.has(`failure.${failure.code}`);
  return faults.length === 0 || (!isPlaced && isNamed) ? [wholeFault(reader, failure)] : faults;
}

function titleOf({ t }: ConsoleReader, faults: FormView['faults']): string {
  const isAboutEntries = faults.some(({ href, label }) => href ?? label);
  return isAboutEntries ? t('faults.title', { count: faults.length }) : t('failure.notDone');
}

/** The words of a fault: the message `fault.<code>`, else the API's own, which is English. */
function faultWords(reader: ConsoleReader, { code, detail }: Fault): { text: string; lang?: string } {
  const key = `fault.${code}`;
  return reader.has(key) ? { text: reader.t(key) } : { text: detail, lang: 'en' };
}

/** Names the field of a fault, and links to it. A fault of no field is named by its place in the body. */
function placeFault(
  reader: ConsoleReader,
  { specs, elsewhere }: { specs: readonly FieldSpec[]; elsewhere: FormInput['elsewhere'] },
  fault: Fault,
): FormView['faults'][number] {
  const words = faultWords(reader, fault);
  const own = fieldAt(specs, fault);
  const other = elsewhere && fieldAt(elsewhere.fields, fault);
  const field = own ?? other;
  if (!field) return { ...(fault.pointer.length > 1 && { label: fault.pointer.slice(1) }), ...words };
  const id = `field-${field.name}`;
  const place = { ...(own && { id }), href: own ? `#${id}` : `${elsewhere?.url}#${id}` };
  return { ...place, label: inGroup(reader, field), ...words };
}

/** The label of a field, with what tells it apart from others with this label. */
function inGroup({ t }: ConsoleReader, { group, label }: FieldSpec): string {
  return group ? t('faults.field', { group, label }) : label;
}

/** The field of a fault: that of its member, else of the nearest member around it, or of the first in it. */
function fieldAt(fields: readonly FieldSpec[], fault: Fault): FieldSpec | undefined {
  const pointersOf = ({ name, pointer = `/${name}` }: FieldSpec) => [pointer].flat();
  return (
    fields.find((field) => pointersOf(field).includes(fault.pointer)) ??
    fields.find((field) => pointersOf(field).some((each) => fault.pointer.startsWith(`${each}/`))) ??
    fields.find((field) => pointersOf(field).some((each) => each.startsWith(`${fault.pointer}/`)))
  );
}

/** A failure about no field: what it means and what to do, and the API's own words. */
function wholeFault(reader: ConsoleReader, failure: ApiFailure): FormView['faults'][number] {
  const { detail } = failure;
  return { text: failureText(reader, failure, true), ...(detail && { detail }) };
}
