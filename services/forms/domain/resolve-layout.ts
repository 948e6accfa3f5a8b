import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { addFault } from './content/fields.ts';
import type { LayoutContent } from './content/layout.ts';
import { formatReference } from './identifiers.ts';
import { type EntryStatus, isAnswerable, type ModelType } from './model.ts';

/** An entry that a layout may name. */
export interface NamedEntry {
  id: string;
  /** The reference in layouts: a peer's has `@<host>`. */
  key: string;
  type: ModelType;
  status: EntryStatus;
  isDefault: boolean;
  /** Whether a peer shares it; the form's information must be our own. */
  ofPeer?: boolean;
}

/** JSON pointers to the members of a layout in the request; all equal for a saved layout. */
export interface LayoutPointers {
  info: string;
  elements: readonly string[];
}

/**
 * Resolves the references of a layout.
 * @param entries the entries found, including the default information.
 * @returns the layout as a transaction pins it; to be used only if there are no faults.
 */
export function resolveLayout(
  content: LayoutContent,
  entries: readonly NamedEntry[],
  pointers: LayoutPointers,
): { layout: Omit<PinnedLayout, 'texts'>; faults: Fault[] } {
  const faults: Fault[] = [];
  const byKey = new Map(entries.map((entry) => [entry.key, entry]));
  const fromBlocs = content.blocs ? informationAmong(content.elements, byKey) : undefined;
  const isParent = (key: string) => key === fromBlocs || (content.blocs && isPeerInformation(byKey.get(key)));
  const keys = content.elements.filter((key) => !isParent(key));
  const types = new Set<ModelType>();
  content.elements.forEach((key, index) => {
    if (isParent(key)) return;
    const entry = byKey.get(key);
    const pointer = pointers.elements[index] ?? pointers.info;
    if (entry?.status !== 'ACTIVE' || !isAnswerable(entry.type))
      addUnknown(faults, pointer, key, 'processing, preference or conditions');
    else types.add(entry.type);
  });
  const first = pointers.elements[0] ?? pointers.info;
  if (keys.length === 0) addFault(faults, first, 'layout-conflict', 'names no element');
  if (types.has('conditions') && types.size > 1)
    addFault(
      faults,
      first,
      'layout-conflict',
      'mixes conditions with other elements: conditions stand alone',
    );
  const info = findInformation(content.info ?? fromBlocs, entries, pointers.info, faults);
  const { acceptAllText, refuseAllText, submitText, cancelText, theme, notification, ...rest } = content;
  const { type: _type, public: _public, context: _context, ...options } = rest;
  const mail = notification === undefined ? undefined : findNotification(notification, entries);
  if (notification !== undefined && mail === undefined)
    addUnknown(faults, pointers.info.replace(/info$/, 'notification'), notification, 'email');
  return {
    faults,
    layout: {
      ...options,
      info,
      elements: keys,
      ...(theme !== undefined && { theme: themeKey(theme, entries) }),
      ...(mail !== undefined && { notification: mail }),
    },
  };
}

/** Finds our information among the elements: in `blocs` the information may be the parent of a bloc. */
function informationAmong(
  keys: readonly string[],
  entries: ReadonlyMap<string, NamedEntry>,
): string | undefined {
  return keys.find((key) => entries.get(key)?.type === 'information' && !entries.get(key)?.ofPeer);
}

/** A peer's questions always appear under its information, whether or not a bloc names it. */
function isPeerInformation(entry: NamedEntry | undefined): boolean {
  return entry?.ofPeer === true && entry.type === 'information';
}

function findInformation(
  key: string | undefined,
  entries: readonly NamedEntry[],
  pointer: string,
  faults: Fault[],
): string {
  const entry = entries.find((each) => (key === undefined ? each.isDefault : each.key === key));
  if (entry?.type === 'information' && entry.status === 'ACTIVE' && !entry.ofPeer) return entry.key;
  if (key === undefined)
    addFault(faults, pointer, 'required', 'is required: no ACTIVE information is marked default');
  else addUnknown(faults, pointer, key, 'information');
  return '';
}

/**
 * The key of an ACTIVE theme; unknown themes are ignored (docs/interface.md).
 * @param reference a key or an entry id.
 */
export function themeKey(reference: string, entries: readonly NamedEntry[]): string | undefined {
  return findActive(reference, 'theme', entries);
}

/** The key of an ACTIVE email. @param reference a key or an entry id. */
export function findNotification(reference: string, entries: readonly NamedEntry[]): string | undefined {
  return findActive(reference, 'email', entries);
}

function findActive(reference: string, type: ModelType, entries: readonly NamedEntry[]): string | undefined {
  const isNamed = ({ key, id }: NamedEntry) => key === reference || id === reference;
  return entries.find((entry) => isNamed(entry) && entry.type === type && entry.status === 'ACTIVE')?.key;
}

function addUnknown(faults: Fault[], pointer: string, key: string, what: string): void {
  const detail =
    key.includes('@') && what !== 'information'
      ? `${key} is not a ${what} that a peer shares with this instance`
      : `${key} is not an ACTIVE ${what} of this instance`;
  addFault(faults, pointer, 'unknown-element', detail);
}

/** A peer's entry as layouts refer to it. */
export function namedByPeer(entry: { id: string; key: string; host: string; type: ModelType }): NamedEntry {
  const { id, type } = entry;
  return { id, type, key: formatReference(entry), status: 'ACTIVE', isDefault: false, ofPeer: true };
}
