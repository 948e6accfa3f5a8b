import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { StartupError } from '#lib/errors/fail.ts';
import { RefusedError, type Schemas } from '#lib/models/models-api.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';

type Content = Pick<Schemas['Version'], 'defaultLanguage' | 'data'>;

/** A model of another instance with all versions that were activated there, the first one first. */
export interface ModelHistory {
  key: string;
  type: Schemas['Entry']['type'];
  name: string;
  description?: string | undefined;
  default: boolean;
  versions: (Content & { serial: string; status: string; reason?: string | undefined })[];
}

/** Answers name a version of these by its serial. */
const answered: readonly string[] = ['information', 'processing', 'preference', 'conditions'];

export interface BroughtModels {
  /** `<key>/<serial>` of what was made, or would be. */
  versions: Set<string>;
  /** Keys of those that were not here. */
  models: Set<string>;
  conflicts: string[];
}

/** Says what was made, or would be. */
export function sayBrought(
  { versions, models }: BroughtModels,
  { isDryRun, say }: { isDryRun: boolean; say: (line: string) => void },
): void {
  if (versions.size > 0)
    say(`${isDryRun ? 'Would make' : 'Made'} ${models.size} models with ${versions.size} versions here.`);
}

/** Whether a row of an import names a version that was made, or would be. */
export function namesBrought(
  { versions }: BroughtModels,
  { element, serial, information, informationSerial }: Readonly<Record<string, unknown>>,
): boolean {
  return versions.has(`${element}/${serial}`) || versions.has(`${information}/${informationSerial}`);
}

interface Options {
  /** Where they come from, as their versions say. */
  from: string;
  isDryRun: boolean;
  notCarried: NotCarried;
}

/**
 * Makes the models of another instance here, in the order of `modelTypes`: elements and informations
 * with every version and its serial, because answers name them; forms, themes and mails with the ACTIVE one.
 * What is here already stays as it is, so that it can be repeated.
 * @throws StartupError that names each version which says something else here: answers to it would state
 * texts that no person was shown.
 */
export async function bringModels(
  target: InstanceClient,
  histories: AsyncIterable<ModelHistory>,
  options: Options,
): Promise<BroughtModels> {
  const brought: BroughtModels = { versions: new Set(), models: new Set(), conflicts: [] };
  for await (const history of histories)
    if (answered.includes(history.type)) await bringHistory(target, history, { ...options, brought });
    else await bringActive(target, history, { ...options, brought });
  if (brought.conflicts.length > 0)
    throw new StartupError(
      ['These models are other ones here, and no answer was taken over:', ...brought.conflicts].join('\n  '),
    );
  return brought;
}

type Run = Options & { brought: BroughtModels };

/** An entry at the instance, with its versions. */
interface Known {
  id: string | undefined;
  versions: Schemas['Version'][];
}

async function readKnown(target: InstanceClient, history: ModelHistory, { brought }: Run) {
  const entry = await target.findJson<Schemas['Entry']>(`/models/serials/${history.key}`);
  if (!entry) return { id: undefined, versions: [] };
  if (entry.type !== history.type) {
    brought.conflicts.push(`${history.type} ${history.key}: is a ${entry.type} here`);
    return undefined;
  }
  const versions: Schemas['Version'][] = [];
  for await (const version of target.list<Schemas['Version']>(`/models/${entry.id}/versions?limit=200`))
    versions.push(version);
  return { id: entry.id, versions };
}

async function bringHistory(target: InstanceClient, history: ModelHistory, run: Run): Promise<void> {
  const known = await readKnown(target, history, run);
  if (!known) return;
  const { brought } = run;
  const newest = known.versions.reduce((most, { serial }) => later(most, serial), '0.0');
  let last = newest;
  for (const version of history.versions) {
    const conflict = (what: string) =>
      brought.conflicts.push(`${history.type} ${history.key}/${version.serial}: ${what}`);
    const same = known.versions.find(({ serial }) => serial === version.serial);
    if (same) {
      if (!isSame(same, version)) return void conflict('says something else here');
      continue;
    }
    const kind = kindOf(last, version.serial);
    if (!kind) return void conflict(`cannot be given after ${last}`);
    try {
      await makeVersion(target, history, { version, kind, known, run });
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return void conflict(sayRefusal(error));
    }
    last = version.serial;
  }
  const here = known.versions.find(({ status }) => status === 'ACTIVE');
  if (run.isDryRun || !here?.reason?.startsWith(takenOverFrom(run))) return;
  if (!history.versions.some(({ status }) => status === 'ACTIVE'))
    await target.send('PUT', `/models/${known.id}/versions/${here.id}/status`, { status: 'ARCHIVED' });
  else if (history.default) await makeDefault(target, known, run);
}

const takenOverFrom = ({ from }: Run) => `Taken over from ${from}, `;

/** The information for forms without one, unless another one is here. */
async function makeDefault(target: InstanceClient, { id }: Known, { notCarried }: Run): Promise<void> {
  const page = await target.read<Schemas['EntryPage']>('/models?types=information&size=200');
  const isTaken = page.values.some((entry) => entry.default && entry.id !== id);
  if (isTaken) leaveOut(notCarried, 'default information, because there is another one here');
  else await target.send('PUT', `/models/${id}`, { default: true });
}

async function bringActive(target: InstanceClient, history: ModelHistory, run: Run): Promise<void> {
  const { notCarried, brought } = run;
  const active = history.versions.find(({ status }) => status === 'ACTIVE');
  if (history.versions.length > 1 || !active)
    leaveOut(
      notCarried,
      'forms, themes and mails of which earlier versions, or those not in use, stay behind',
    );
  if (!active) return;
  const known = await readKnown(target, history, run);
  if (!known) return;
  const here = known.versions.find(({ status }) => status === 'ACTIVE');
  const version = { ...active, data: withoutLogo(history, active.data, notCarried) };
  if (here) {
    if (!isSame(here, version))
      leaveOut(notCarried, `${history.type} ${history.key}, which is another one here`);
    return;
  }
  try {
    await makeVersion(target, history, { version, kind: 'MAJOR', known, run });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    brought.versions.delete(`${history.key}/${version.serial}`);
    leaveOut(notCarried, `${history.type} ${history.key}: ${sayRefusal(error)}`);
  }
}

/** A logo is an asset of the other instance. */
function withoutLogo({ type }: ModelHistory, data: Content['data'], notCarried: NotCarried): Content['data'] {
  if (type !== 'theme') return data;
  return Object.fromEntries(
    Object.entries(data).map(([language, { logoPath, icon, ...content }]) => {
      if (logoPath || icon) leaveOut(notCarried, 'logos');
      return [language, content];
    }),
  );
}

interface Wanted {
  version: ModelHistory['versions'][number];
  kind: 'MAJOR' | 'MINOR';
  known: Known;
  run: Run;
}

/** Makes and activates a version; a draft that a stopped run has left is taken up again. */
async function makeVersion(
  target: InstanceClient,
  { key, type, name, description }: ModelHistory,
  { version, kind, known, run }: Wanted,
): Promise<void> {
  const { serial, defaultLanguage, data, reason } = version;
  run.brought.versions.add(`${key}/${serial}`);
  if (known.versions.length === 0) run.brought.models.add(key);
  if (run.isDryRun) return;
  known.id ??= (await target.send<Schemas['Entry']>('POST', '/models', { key, type, name, description })).id;
  const path = `/models/${known.id}/versions`;
  const left = known.versions.find(({ status }) => status === 'DRAFT');
  const draft =
    left && isSame(left, version)
      ? left
      : await target.send<Schemas['Version']>('POST', path, { defaultLanguage, data });
  const told = `${takenOverFrom(run)}${serial}, ${markOf(version)}.${reason ? ` ${reason}` : ''}`;
  await target.send('PUT', `${path}/${draft.id}/type`, { type: kind, reason: told.slice(0, 2000) });
  const made = await target.send<Schemas['Version']>('PUT', `${path}/${draft.id}/status`, {
    status: 'ACTIVE',
  });
  if (made.serial !== serial && answered.includes(type))
    throw new StartupError(`${key} has got the serial ${made.serial} in place of ${serial}.`);
  known.versions = [made, ...known.versions.filter((each) => each !== left)];
}

/** Content as it was sent, in the reason of a version: an instance may store it in another form. */
function markOf({ defaultLanguage, data }: Content): string {
  const digest = createHash('sha256').update(canonicalize({ defaultLanguage, data }) ?? '');
  return `SHA-256 ${digest.digest('hex')}`;
}

function isSame(here: Schemas['Version'], { defaultLanguage, data }: Content): boolean {
  return (
    here.reason?.includes(markOf({ defaultLanguage, data })) === true ||
    markOf(here) === markOf({ defaultLanguage, data })
  );
}

/** The kind with which a version gets a serial after another one; undefined: it cannot get it. */
export function kindOf(last: string, serial: string): 'MAJOR' | 'MINOR' | undefined {
  const [major = 0, minor = 0] = last.split('.').map(Number);
  if (serial === `${major + 1}.0`) return 'MAJOR';
  return major > 0 && serial === `${major}.${minor + 1}` ? 'MINOR' : undefined;
}

function later(one: string, other: string | undefined): string {
  if (other === undefined) return one;
  const [[major = 0, minor = 0], [otherMajor = 0, otherMinor = 0]] = [one, other].map((serial) =>
    serial.split('.').map(Number),
  ) as [number[], number[]];
  return otherMajor > major || (otherMajor === major && otherMinor > minor) ? other : one;
}

/** What an instance refused, in a line. */
export function sayRefusal({ message, faults }: RefusedError): string {
  return [message, ...faults.slice(0, 3).map(({ pointer, detail }) => `${pointer} ${detail}`)].join(' ');
}
