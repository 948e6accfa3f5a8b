import type { Queries } from '#lib/db/database.ts';
import { type Fault, invalidMember } from '#lib/errors/fail.ts';
import { inApplyOrder } from '#lib/models/plan-steps.ts';
import type { LayoutContent } from '../domain/content/layout.ts';
import { parseReference } from '../domain/identifiers.ts';
import { contentIn, type ModelType } from '../domain/model.ts';
import { checkNotice, type NoticePoint } from '../domain/notice-check.ts';
import { type PlannedStep, planArchive, type StandingModel, type WantedModel } from '../domain/plan-model.ts';
import { type NamedEntry, namedByPeer, resolveLayout } from '../domain/resolve-layout.ts';
import { readActive } from '../queries/active-entries.ts';
import { readLayoutUses, readOtherKeys, readPeerHosts, readStanding } from '../queries/planned-models.ts';
import { readPeerRows } from '../queries/read-peers.ts';
import type { Dependencies } from './model-access.ts';
import { compareModel, type GivenModel } from './read-wanted.ts';

/** Models as they should be. */
export interface PlanRequest {
  models: readonly GivenModel[];
  /** Models of other requests of the same folder. */
  others?: readonly { key: string; type: string }[];
  prune?: boolean;
  noticeCheck?: string;
}

/** A step of a plan, and whom it concerns. */
export interface PlannedModel extends Omit<PlannedStep, 'faults'> {
  key: string;
  type: ModelType;
  name: string;
  layouts: string[];
  peers: string[];
  /** The rules that are not met. */
  notice: NoticePoint[];
}

/** A model of the request, with what is there. */
interface Compared {
  index: number;
  wanted: WantedModel;
  standing: StandingModel | undefined;
  step: PlannedStep;
  /** The rules that are not met. */
  notice: NoticePoint[];
}

/** Says what has to be done so that the models are as wanted; stores nothing. @throws Failure `invalid`. */
export async function planModels(
  { db }: Pick<Dependencies, 'db'>,
  { models, others = [], prune = false, noticeCheck = 'WARNINGS' }: PlanRequest,
): Promise<{ steps: PlannedModel[]; faults: Fault[] }> {
  if (noticeCheck !== 'WARNINGS' && noticeCheck !== 'FAULTS')
    throw invalidMember('The request is not valid.', '/noticeCheck', 'must be WARNINGS or FAULTS');
  const faults = checkTogether(models);
  const named = [...models, ...others].map(({ key, type }) => ({ key, type: type as ModelType }));
  const keys = named.map(({ key }) => key);
  const standing = await readStanding(
    db,
    models.map(({ key }) => key),
  );
  const compared = await compareAll(db, { models, standing }, faults);
  const archived = prune ? await readStanding(db, await readOtherKeys(db, keys)) : [];
  for (const { index, wanted, notice } of compared) {
    if (wanted.type === 'layout')
      faults.push(...at(index, await findUnresolved(db, wanted, { named, archived })));
    if (noticeCheck === 'FAULTS') faults.push(...at(index, notice.flatMap(noticeFaults)));
  }
  const concern = await readConcerns(db, [...standing, ...archived]);
  const steps = compared.map(({ wanted, standing: known, step, notice }): PlannedModel => {
    const { key, type, name } = wanted;
    return { key, type, name, ...withoutFaults(step), ...concern(key, known, wanted), notice };
  });
  const ends = archived.map((each): PlannedModel => {
    const { key, type, name } = each.entry;
    const step = planArchive(each);
    faults.push(...step.faults);
    return { key, type, name, ...withoutFaults(step), ...concern(key, each), notice: [] };
  });
  return { steps: inApplyOrder([...steps, ...ends]), faults };
}

const withoutFaults = ({ faults: _, ...step }: PlannedStep) => step;

/** Compares each model with what is there. @param faults where those of the models are added. */
async function compareAll(
  db: Queries,
  { models, standing }: { models: readonly GivenModel[]; standing: readonly StandingModel[] },
  faults: Fault[],
): Promise<Compared[]> {
  const byKey = new Map(standing.map((each) => [each.entry.key, each]));
  const compared: Compared[] = [];
  for (const [index, given] of models.entries()) {
    const known = byKey.get(given.key);
    const { compared: model, faults: own } = await compareModel(db, given, known);
    faults.push(...at(index, [...own, ...(model?.step.faults ?? [])]));
    if (!model || own.length > 0) continue;
    const notice = checkNotice(model.wanted.type, model.wanted.data).filter(({ met }) => !met);
    compared.push({ index, ...model, standing: known, notice });
  }
  return compared;
}

const at = (index: number, faults: readonly Fault[]): Fault[] =>
  faults.map((fault) => ({ ...fault, pointer: `/models/${index}${fault.pointer}` }));

const noticeFaults = ({ code, detail, pointers }: NoticePoint): Fault[] =>
  pointers.map((pointer) => ({ pointer, code, detail: `notice check: ${detail}` }));

function checkTogether(models: readonly GivenModel[]): Fault[] {
  const keys = models.map(({ key }) => key);
  const defaults = models.flatMap((each, index) => (each.default === true ? [index] : []));
  return [
    ...keys.flatMap((key, index) =>
      keys.indexOf(key) < index
        ? [{ pointer: `/models/${index}/key`, code: 'duplicate', detail: `${key} is there already` }]
        : [],
    ),
    ...defaults.slice(1).map((index) => ({
      pointer: `/models/${index}/default`,
      code: 'duplicate',
      detail: 'another information is the default already',
    })),
  ];
}

/** Faults of a layout whose references do not resolve once the plan is applied. */
async function findUnresolved(
  db: Queries,
  { data, defaultLanguage }: WantedModel,
  {
    named,
    archived,
  }: { named: readonly { key: string; type: ModelType }[]; archived: readonly StandingModel[] },
): Promise<Fault[]> {
  const content = contentIn<LayoutContent>(data, defaultLanguage);
  const path = `/data/${defaultLanguage}`;
  const pointers = {
    info: `${path}/info`,
    elements: content.elements.map((_, place) => `${path}/elements/${place}`),
  };
  const { info, elements, notification } = content;
  const keys = [...elements, ...[info, notification].flatMap((key) => key || [])];
  const rows = await readActive(db, { keys });
  const ended = new Set(archived.map(({ entry }) => entry.key));
  const planned = new Set(named.map(({ key }) => key));
  const entries: NamedEntry[] = [
    ...named.map((each) => ({ ...each, id: each.key, status: 'ACTIVE' as const, isDefault: false })),
    ...rows
      .filter(({ key, status }) => status !== 'DELETED' && !ended.has(key) && !planned.has(key))
      .map((row) => ({ ...row, status: 'ACTIVE' as const })),
    ...(
      await readPeerRows(
        db,
        elements.flatMap((text) => parseReference(text) ?? []),
      )
    ).map(namedByPeer),
  ];
  // A missing default information is reported when the layout is used: it is not a fault of the layout.
  return resolveLayout(content, entries, pointers).faults.filter(({ code }) => code !== 'required');
}

/** @returns a function that says which ACTIVE layouts and which peers a model concerns. */
async function readConcerns(db: Queries, standing: readonly StandingModel[]) {
  const references = standing.flatMap(({ entry }) => [entry.key, entry.id]);
  const layouts = await readLayoutUses(
    db,
    references,
    standing.some(({ entry }) => entry.isDefault),
  );
  const peers = await readPeerHosts(db);
  return (key: string, known: StandingModel | undefined, wanted?: WantedModel) => {
    const { id, isDefault = false } = known?.entry ?? {};
    const using = layouts.filter(
      ({ uses, hasInfo }) => uses.includes(key) || (id && uses.includes(id)) || (isDefault && !hasInfo),
    );
    const showing = [known?.entry, wanted].filter((each) => each?.shared === true);
    const shown = peers.filter((peer) =>
      showing.some((each) => each?.sharedWith.length === 0 || each?.sharedWith.includes(peer.id)),
    );
    const hosts = [...shown.map(({ host }) => host), ...hostsIn(wanted)];
    return { layouts: using.map((layout) => layout.key), peers: [...new Set(hosts)].toSorted() };
  };
}

/** The hosts of the peers whose elements a layout names. */
function hostsIn(wanted: WantedModel | undefined): string[] {
  if (wanted?.type !== 'layout') return [];
  const { elements } = contentIn<LayoutContent>(wanted.data, wanted.defaultLanguage);
  return elements.flatMap((text) => parseReference(text)?.host ?? []);
}
