import { type AccessMapping, planMappings } from './access-mappings.ts';
import { type ModelsApi, RefusedError, type Schemas } from './models-api.ts';
import { inApplyOrder, planDigest } from './plan-steps.ts';
import type { FileFault, Folder, FolderMappings, FolderModel } from './read-folder.ts';
import { locate } from './read-folder.ts';

/** How many valid answers a step ends; a person may have given several. */
export interface AnswerCount {
  count: number;
  /** Whether there may be more. */
  atLeast: boolean;
}

export interface FolderStep {
  step: Schemas['ModelStep'];
  /** Undefined for what is archived: the folder does not have it. */
  source?: FolderModel;
  /** Of the step that replaces the mappings of AuthZEN. */
  mappings?: { wanted: readonly AccessMapping[]; source: FolderMappings | undefined };
  /** Undefined if none stops counting. */
  answers?: AnswerCount;
}

export interface FolderPlan {
  digest: string;
  steps: FolderStep[];
  faults: FileFault[];
}

/** Bytes of the models of one request: less than the 1 MiB that a body may have. */
const maxBytes = 900_000;
const maxModels = 200;

/** Compares a folder with an instance. @param prune whether what the folder lacks is archived. */
export async function planFolder(api: ModelsApi, folder: Folder, prune: boolean): Promise<FolderPlan> {
  const faults = [...folder.faults];
  const found: FolderStep[] = [];
  for (const part of partsOf(folder.models)) {
    const { steps, faults: told } = await planPart(api, folder, part, prune);
    faults.push(...told.map((fault) => placeFault(part, fault)));
    for (const step of steps) {
      const source = part.find(({ model }) => model.key === step.key);
      const isKnown = found.some((each) => each.step.key === step.key);
      if (!isKnown) found.push({ step, ...(source && { source }) });
    }
  }
  const byKey = new Map(found.map((each) => [each.step.key, each]));
  const steps = inApplyOrder(found.map(({ step }) => step)).flatMap(({ key }) => byKey.get(key) ?? []);
  for (const each of steps) each.answers = await countAnswers(api, each.step);
  // Mappings name elements, so these come first.
  const mappings = await planMappings(api, folder, prune);
  steps.push(...mappings.steps);
  faults.push(...mappings.faults);
  return { digest: planDigest(steps.map(({ step }) => step)), steps, faults };
}

/** Parts of a folder that fit into a request; one part if there is nothing, which may prune everything. */
function partsOf(models: readonly FolderModel[]): FolderModel[][] {
  const parts: FolderModel[][] = [[]];
  let bytes = 0;
  for (const each of models) {
    const size = Buffer.byteLength(JSON.stringify(each.model));
    const last = parts.at(-1) as FolderModel[];
    if (last.length > 0 && (bytes + size > maxBytes || last.length === maxModels)) {
      parts.push([each]);
      bytes = size;
    } else {
      last.push(each);
      bytes += size;
    }
  }
  return parts;
}

async function planPart(
  api: ModelsApi,
  { models, noticeCheck }: Folder,
  part: readonly FolderModel[],
  prune: boolean,
): Promise<Pick<Schemas['ModelPlan'], 'steps' | 'faults'>> {
  const others = models
    .filter((each) => !part.includes(each))
    .map(({ model: { key, type } }) => ({ key: String(key), type: String(type) }));
  const body = { models: part.map(({ model }) => model), others, prune, noticeCheck };
  try {
    return await api.post<Schemas['ModelPlan']>('/models/plan', body);
  } catch (error) {
    if (!(error instanceof RefusedError) || error.faults.length === 0) throw error;
    return { steps: [], faults: error.faults };
  }
}

/** A fault of the request as a fault of a file. */
function placeFault(part: readonly FolderModel[], { pointer, detail }: Schemas['Fault']): FileFault {
  const [, index = '', rest = ''] = /^\/models\/(\d+)(\/.*)?$/s.exec(pointer) ?? [];
  const source = part[Number(index)];
  if (index === '' || !source) return { file: '.', ...(pointer && { member: pointer.slice(1) }), detail };
  return { ...locate(source, rest), detail };
}

const questions = ['processing', 'preference', 'conditions'];

/** Counts as the console does before an activation: valid answers to a question, or under an information. */
async function countAnswers(api: ModelsApi, step: Schemas['ModelStep']): Promise<AnswerCount | undefined> {
  const { key, type, change, version } = step;
  const ends = change === 'ARCHIVED' || (change === 'CHANGED' && version?.type === 'MAJOR');
  if (!ends) return undefined;
  if (questions.includes(type)) return addUp(api, [[key]]);
  return type === 'information' ? addUp(api, await readQuestions(api), key) : undefined;
}

async function addUp(
  api: ModelsApi,
  groups: readonly string[][],
  information?: string,
): Promise<AnswerCount> {
  const total: AnswerCount = { count: 0, atLeast: false };
  for (const keys of groups) {
    const query = new URLSearchParams(keys.map((key): [string, string] => ['keys', key]));
    if (information !== undefined) query.set('information', information);
    const { values, atLeast } = await api.get<Schemas['ValidAnswers']>(`/stats/valid?${query}`);
    for (const { subjects } of values) total.count += subjects;
    if (atLeast) total.atLeast = true;
  }
  return total;
}

/** Keys of the ACTIVE questions, as many as one count takes. */
async function readQuestions(api: ModelsApi): Promise<string[][]> {
  const groups: string[][] = [];
  for await (const entries of readActive(api, questions)) groups.push(entries.map(({ key }) => key));
  return groups;
}

/** The ACTIVE models of an instance, page by page. @param types empty: of all types. */
export async function* readActive(
  api: ModelsApi,
  types: readonly string[] = [],
): AsyncGenerator<Schemas['Entry'][]> {
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query = new URLSearchParams({ statuses: 'ACTIVE', size: '200', ...(cursor && { cursor }) });
    for (const type of types) query.append('types', type);
    const page: Schemas['EntryPage'] = await api.get(`/models?${query}`);
    if (page.values.length > 0) yield page.values;
    cursor = page.next;
  }
}
