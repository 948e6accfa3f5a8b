import type { Fault } from '#lib/errors/fail.ts';
import { digestOf, type StepChange } from '#lib/models/plan-steps.ts';
import { changedTerms, isSame, proposeType } from '#lib/models/proposed-type.ts';
import { checkMinor } from './check-content.ts';
import { compareContents, type Difference, differenceOf } from './content-differences.ts';
import { formatSerial, nextSerial, type Serial } from './identifiers.ts';
import type { Entry, ModelType, VersionData, VersionKind } from './model.ts';
import type { EntryFields } from './read-entry-fields.ts';

/** A model as it should be; its content was checked. */
export interface WantedModel extends EntryFields {
  key: string;
  type: ModelType;
  /** Whether it becomes the default information. */
  default: boolean;
  defaultLanguage: string;
  data: VersionData;
  change?: { after: string; type: string; reason?: string };
}

/** A model as it is. */
export interface StandingModel {
  entry: Entry;
  /** The version that was activated last, ACTIVE or not. */
  former: (Serial & { id: string; defaultLanguage: string; data: VersionData }) | undefined;
  hasDraft: boolean;
}

/** The version that becomes ACTIVE. */
export interface PlannedVersion {
  type: VersionKind;
  proposed: VersionKind;
  /** Members for which a MAJOR is proposed. */
  because: string[];
  reason?: string;
  /** Serial of the version that is changed. */
  after?: string;
  /** Undefined for a new model: an earlier one of this key may have used some. */
  serial?: string;
}

/** What has to be done to a model. */
export interface PlannedStep {
  change: StepChange;
  version?: PlannedVersion;
  /** Empty for a new model. */
  differences: Difference[];
  /** Of all that the step does, and of what it is based on. */
  digest: string;
  /** By pointers into the wanted model. */
  faults: Fault[];
}

const fault = (pointer: string, code: string, detail: string): Fault => ({ pointer, code, detail });

/** What has to be done so that a model is as wanted. @param standing undefined: there is none of this key. */
export function planModel(wanted: WantedModel, standing: StandingModel | undefined): PlannedStep {
  const { entry, former, hasDraft } = standing ?? {};
  const isNew = !entry || !former;
  const isOther = isNew || entry.status !== 'ACTIVE' || !isContentSame(wanted, former);
  const version = isOther ? planVersion(wanted, standing) : undefined;
  const differences = isNew ? [] : compareModels(wanted, entry, former);
  const change = !entry ? 'CREATED' : version || differences.length > 0 ? 'CHANGED' : 'UNCHANGED';
  const faults = [
    ...(entry ? checkStanding(wanted, entry, hasDraft === true) : []),
    ...(version && former ? checkChange(wanted, former, version) : []),
  ];
  return { change, ...(version && { version }), differences, digest: stepDigest(wanted, standing), faults };
}

/** What it means to archive a model. */
export function planArchive({ entry, former }: StandingModel): PlannedStep {
  const faults = entry.isDefault
    ? [fault('/prune', 'in-use', `${entry.key} is the default information and cannot be archived`)]
    : [];
  const digest = digestOf({ archive: entry.key, base: former?.id ?? null });
  return { change: 'ARCHIVED', differences: [], digest, faults };
}

function isContentSame(
  { defaultLanguage, data }: WantedModel,
  former: Pick<WantedModel, 'defaultLanguage' | 'data'>,
): boolean {
  return defaultLanguage === former.defaultLanguage && isSame(data, former.data);
}

function planVersion(
  { data, type, change }: WantedModel,
  standing: StandingModel | undefined,
): PlannedVersion {
  const { entry, former } = standing ?? {};
  const reason = change?.reason?.trim();
  if (!entry || !former) return { type: 'MAJOR', proposed: 'MAJOR', because: [] };
  const errors = checkMinor(type, former.data, data);
  const members = errors.map(({ pointer }) => pointer.split('/')[3] ?? '');
  const because = [...new Set([...members, ...changedTerms(former.data, data)])];
  const proposed = proposeType(former.data, data, errors.length > 0);
  const kind = change?.type === 'MAJOR' || change?.type === 'MINOR' ? change.type : proposed;
  return {
    type: kind,
    proposed,
    because,
    ...(reason && { reason }),
    after: formatSerial(former),
    serial: formatSerial(nextSerial({ major: entry.lastMajor, minor: entry.lastMinor }, kind)),
  };
}

function compareModels(
  wanted: WantedModel,
  entry: Entry,
  former: NonNullable<StandingModel['former']>,
): Difference[] {
  const peersOf = ({ sharedWith }: EntryFields) => sharedWith.toSorted().join(', ');
  return [
    ...differenceOf('name', entry.name, wanted.name),
    ...differenceOf('description', entry.description, wanted.description),
    ...differenceOf('shared', entry.shared, wanted.shared),
    ...differenceOf('sharedWith', peersOf(entry), peersOf(wanted)),
    ...(wanted.default ? differenceOf('default', entry.isDefault, true) : []),
    ...(entry.status === 'ACTIVE' ? [] : differenceOf('status', entry.status, 'ACTIVE')),
    ...differenceOf('defaultLanguage', former.defaultLanguage, wanted.defaultLanguage),
    ...compareContents(former.data, wanted.data),
  ];
}

function checkStanding(wanted: WantedModel, entry: Entry, hasDraft: boolean): Fault[] {
  const { key, type, status } = entry;
  if (type !== wanted.type)
    return [fault('/type', 'exists', `${key} is a ${type} already; choose another key`)];
  if (status === 'DELETED')
    return [fault('/key', 'exists', `${key} was deleted and has answers; choose another key`)];
  return hasDraft
    ? [fault('/key', 'draft', `${key} has a draft, which was begun in the console: activate or discard it`)]
    : [];
}

function checkChange(
  { change, type, data }: WantedModel,
  former: NonNullable<StandingModel['former']>,
  version: PlannedVersion,
): Fault[] {
  const serial = formatSerial(former);
  if (!change) return [];
  if (change.type !== 'MAJOR' && change.type !== 'MINOR')
    return [fault('/change/type', 'invalid', 'must be MAJOR or MINOR')];
  if (change.after !== serial)
    return [
      fault('/change/after', 'stale', `must be ${serial}, the present version: say what this change is`),
    ];
  if (change.type === 'MAJOR') return [];
  const errors = checkMinor(type, former.data, data);
  if (errors.length > 0) return errors;
  const members = version.because.join(', ');
  return version.proposed === 'MAJOR' && !version.reason
    ? [fault('/change/reason', 'required', `is required: people agreed to other words of ${members}`)]
    : [];
}

/** Other models, such as a former default information, do not count: their steps change them on the way. */
function stepDigest(wanted: WantedModel, standing: StandingModel | undefined): string {
  const { entry, former } = standing ?? {};
  const fieldsOf = ({ name, description, shared, sharedWith }: EntryFields) => ({
    name,
    description,
    shared,
    sharedWith: sharedWith.toSorted(),
  });
  return digestOf({
    wanted: { ...wanted, sharedWith: wanted.sharedWith.toSorted() },
    base: entry ? { ...fieldsOf(entry), status: entry.status, version: former?.id ?? null } : null,
  });
}
