import type { LayoutContext, LayoutTexts, PinnedLayout } from '#lib/contracts/forms.ts';
import type { PublicForm } from '#lib/contracts/public-forms.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { longestValidity } from '#lib/text/duration.ts';
import { canonicalReference } from '../identifiers.ts';
import { contentIn, type ModelType, type VersionData } from '../model.ts';
import {
  addFault,
  day,
  duration,
  type Field,
  flag,
  line,
  listOf,
  objectOf,
  oneOf,
  required,
  type ValueOf,
} from './fields.ts';

/**
 * A checked layout with all defaults (docs/interface.md, "The consent context"). Its references are not
 * resolved yet.
 */
export interface LayoutContent extends Omit<PinnedLayout, 'id' | 'texts' | 'info'>, LayoutTexts {
  type: 'layout';
  info?: string;
  public?: PublicForm;
  context?: LayoutContext;
}

/** Members that may differ between the languages of a layout; all others must be equal. */
export const layoutTexts = ['acceptAllText', 'refuseAllText', 'submitText', 'cancelText'] as const;

/** The references of a layout in all its languages; empty for other types. */
export function layoutUses(type: ModelType, data: VersionData): string[] {
  if (type !== 'layout') return [];
  const contents = Object.keys(data).map((language) => contentIn<Partial<LayoutContent>>(data, language));
  const named = contents.flatMap(({ info, elements = [], theme, notification }) =>
    [info, ...elements, theme, notification].flatMap((each) => each || []),
  );
  return [...new Set(named)];
}

const maxElements = 100;

const reference = line(600);
/** Parent or child of a bloc, the grouping that clients of the next generation send. */
const member = objectOf({ key: required(reference), location: line(2048) });

const common = {
  type: oneOf('layout'),
  info: reference,
  elements: listOf(reference, maxElements),
  orientation: oneOf('VERTICAL', 'HORIZONTAL'),
  theme: reference,
  notification: reference,
  existingElementsVisible: flag,
  validityVisible: flag,
  acceptAllVisible: flag,
  acceptAllText: line(120),
  refuseAllText: line(120),
  submitText: line(120),
  cancelVisible: flag,
  cancelText: line(120),
  footerOnTop: flag,
  includeIFrameResizer: flag,
};
const publicMembers = objectOf({ identify: required(oneOf('EMAIL', 'ANONYMOUS', 'SIGN_IN')), until: day });

/** Only a saved layout has a key, which its address names. */
const publicForm: Field<PublicForm> = (value, at, faults) => {
  const read = publicMembers(value, at, faults);
  return read?.identify && { ...read, identify: read.identify };
};

/** A page to go to, as a context takes it. */
const page: Field<string> = (value, at, faults) => {
  const given = line(2048)(value, at, faults);
  if (given === undefined || (/^https?:/i.test(given) && URL.canParse(given))) return given;
  return addFault(faults, at, 'invalid', 'must be an http or https URL');
};

const contextMembers = objectOf({
  validity: duration(longestValidity),
  timeout: duration('P90D'),
  confirmation: oneOf('NONE', 'FORM_CODE', 'EMAIL_CODE', 'SMS_CODE'),
  ask: oneOf('CHANGED'),
  callback: page,
});

const savedMembers = objectOf({ ...common, public: publicForm, context: contextMembers });
const inlineMembers = objectOf({
  ...common,
  blocs: listOf(objectOf({ parent: required(member), children: listOf(member, maxElements) }), maxElements),
});

type Inline = ValueOf<typeof inlineMembers>;

/** Reads the content of a layout model, with the defaults of docs/interface.md, "The consent context". */
export const readSavedLayout: Field<Record<string, unknown>> = (value, at, faults) =>
  readLayout(savedMembers, value, at, faults);

/**
 * Reads an inline layout of a context. `blocs`, which clients of the next generation send, become `elements`
 * in order.
 */
export const readInlineLayout: Field<Record<string, unknown>> = (value, at, faults) =>
  readLayout(inlineMembers, value, at, faults);

function readLayout(members: Field<Inline>, value: unknown, at: string, faults: Fault[]) {
  const before = faults.length;
  const read = members(value, at, faults);
  if (!read || faults.length > before) return read;
  const { blocs, elements, ...rest } = read;
  if (blocs && elements)
    addFault(faults, `${at}/blocs`, 'layout-conflict', 'must not be set beside elements');
  const flat = blocs?.flatMap(({ parent = {}, children = [] }) => [parent, ...children]).map(keyWithLocation);
  const all = (elements ?? flat ?? []).map(canonicalReference);
  const pointers = elementPointers(value, at);
  if (all.length === 0) addFault(faults, `${at}/elements`, 'required', 'must name at least one element');
  if (all.length > maxElements)
    addFault(faults, `${at}/elements`, 'too-many', `must name at most ${maxElements} elements`);
  const seen = new Set<string>();
  all.forEach((key, index) => {
    if (seen.size === seen.add(key).size)
      addFault(faults, pointers[index] ?? at, 'layout-conflict', 'names an element a second time');
  });
  return {
    orientation: 'VERTICAL',
    existingElementsVisible: true,
    validityVisible: true,
    acceptAllVisible: false,
    cancelVisible: false,
    footerOnTop: false,
    includeIFrameResizer: true,
    ...rest,
    type: 'layout',
    elements: all,
    ...(blocs && { blocs: true }),
  } satisfies LayoutContent;
}

/** A peer's element is named by its host in `elements`, by its location in `blocs`. */
function keyWithLocation({ key = '', location }: ValueOf<typeof member>): string {
  if (location === undefined) return key;
  return `${key}@${URL.parse(location)?.host || location}`;
}

/** JSON pointers to the elements of a layout that was read without faults, in order. */
export function elementPointers(value: unknown, at: string): string[] {
  const { elements, blocs } = value as { elements?: unknown[]; blocs?: { children?: unknown[] }[] };
  if (Array.isArray(elements) && elements.length > 0)
    return elements.map((_, index) => `${at}/elements/${index}`);
  return (blocs ?? []).flatMap(({ children }, bloc) => [
    `${at}/blocs/${bloc}/parent/key`,
    ...(children || []).map((_, child) => `${at}/blocs/${bloc}/children/${child}/key`),
  ]);
}
