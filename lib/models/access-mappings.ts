import { stringify } from 'yaml';
import { escapePointer } from '#lib/json/pointer.ts';
import { type ModelsApi, RefusedError, type Schemas } from './models-api.ts';
import type { FolderStep } from './plan-folder.ts';
import { digestOf } from './plan-steps.ts';
import { isSame } from './proposed-type.ts';
import { type FileFault, type Folder, type FolderMappings, locate } from './read-folder.ts';

/** A mapping of AuthZEN (docs/decisions-api.md, "AuthZEN"). */
export type AccessMapping = Schemas['AccessMapping'];

const address = '/access/mappings';
const order = ['subjectType', 'action', 'resourceType', 'when', 'element', 'purpose', 'object', 'capture'];

/** The mappings of an instance; undefined if the caller may not read them. */
export async function readMappings(api: ModelsApi): Promise<AccessMapping[] | undefined> {
  try {
    return (await api.get<Schemas['AccessMappings']>(address)).mappings.map(inOrder);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 403) return undefined;
    throw error;
  }
}

/** Stores all mappings. @throws RefusedError with pointers such as `/mappings/0/element`. */
export async function storeMappings(api: ModelsApi, mappings: readonly AccessMapping[]): Promise<void> {
  await api.put(address, { mappings });
}

/**
 * Compares the mappings of a folder with those of an instance: the list is one step, because its order
 * counts.
 * @param prune whether a folder without their file removes all.
 */
export async function planMappings(
  api: ModelsApi,
  { mappings: source, models }: Pick<Folder, 'mappings' | 'models'>,
  prune: boolean,
): Promise<{ steps: FolderStep[]; faults: FileFault[] }> {
  if (!source && !prune) return { steps: [], faults: [] };
  const stored = await readMappings(api);
  if (!stored)
    return {
      steps: [],
      faults: source ? [{ file: source.file, detail: 'needs the access token of an administrator' }] : [],
    };
  const keys = new Set(models.map(({ model }) => String(model.key)));
  const { wanted, faults } = source ? await check(api, source, keys) : { wanted: [], faults: [] };
  if (faults.length > 0 || (!source && stored.length === 0)) return { steps: [], faults };
  const step = stepOf(stored, wanted, source !== undefined);
  return { steps: [{ step, mappings: { wanted, source } }], faults: [] };
}

function stepOf(
  stored: readonly AccessMapping[],
  wanted: readonly AccessMapping[],
  isKept: boolean,
): Schemas['ModelStep'] {
  const made = stored.length === 0 ? 'CREATED' : 'CHANGED';
  const change = isSame(stored, wanted) ? 'UNCHANGED' : isKept ? made : 'ARCHIVED';
  const differences =
    change === 'UNCHANGED' ? [] : [{ member: 'list', before: inWords(stored), after: inWords(wanted) }];
  const digest = digestOf({ stored, wanted });
  const unused = { name: '', layouts: [], peers: [], notice: [] };
  return { type: 'access', key: 'mappings', change, differences, digest, ...unused };
}

/**
 * Asks the instance what is wrong with the mappings. An element may be one that the same plan creates.
 * @returns the mappings as they would be stored.
 */
async function check(
  api: ModelsApi,
  source: FolderMappings,
  keys: ReadonlySet<string>,
): Promise<{ wanted: AccessMapping[]; faults: FileFault[] }> {
  const { mappings } = source;
  const unknown = mappings.flatMap((mapping, place) => unknownMembers(mapping, `/mappings/${place}`));
  if (unknown.length > 0) return { wanted: [], faults: unknown.map((fault) => placeFault(source, fault)) };
  const isMade = (pointer: string) => {
    const [, place = ''] = /^\/mappings\/(\d+)\/element$/.exec(pointer) ?? [];
    const { element, purpose } = mappings[Number(place || -1)] ?? {};
    return purpose === undefined && element !== undefined && keys.has(element);
  };
  try {
    const read = await api.put<Schemas['AccessMappings']>(`${address}?dryRun=true`, { mappings });
    return { wanted: read.mappings.map(inOrder), faults: [] };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const faults = error.faults.filter(({ pointer }) => !isMade(pointer));
    if (faults.length === 0 && error.faults.length > 0) return { wanted: mappings.map(inOrder), faults: [] };
    return { wanted: [], faults: placeFaults(source, error, faults) };
  }
}

/** The API tells of these without their names. */
function unknownMembers(mapping: unknown, pointer: string) {
  const names = typeof mapping === 'object' && mapping !== null ? Object.keys(mapping) : [];
  return names
    .filter((name) => !order.includes(name))
    .map((name) => ({
      pointer: `${pointer}/${escapePointer(name)}`,
      detail: 'is not a member of a mapping',
    }));
}

/** What the instance refuses, by the lines of the file. */
export function placeFaults(
  source: FolderMappings,
  { message }: RefusedError,
  faults: readonly Schemas['Fault'][],
): FileFault[] {
  if (faults.length === 0) return [{ file: source.file, detail: message }];
  return faults.map((fault) => placeFault(source, fault));
}

function placeFault(
  source: FolderMappings,
  { pointer, detail }: Pick<Schemas['Fault'], 'pointer' | 'detail'>,
) {
  return { ...locate(source, pointer), detail };
}

/** One line a mapping, as YAML writes it. */
function inWords(mappings: readonly AccessMapping[]): string {
  return mappings
    .map((each) => stringify(inOrder(each), { collectionStyle: 'flow', lineWidth: 0 }).trimEnd())
    .join('\n');
}

/** Members in the order of the documentation. */
function inOrder(mapping: AccessMapping): AccessMapping {
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return Object.fromEntries(Object.entries(mapping).toSorted(([one], [other]) => rank(one) - rank(other)));
}
