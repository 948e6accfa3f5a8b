import type { Queries } from '#lib/db/database.ts';
import { Failure, type Fault } from '#lib/errors/fail.ts';
import { checkContent } from '../domain/check-content.ts';
import type { ModelType, VersionData } from '../domain/model.ts';
import { type PlannedStep, planModel, type StandingModel, type WantedModel } from '../domain/plan-model.ts';
import { type GivenEntry, readNewEntry, refuseUnknownPeers } from '../domain/read-entry-fields.ts';
import { unknownMembers } from '../domain/unknown-members.ts';
import { findUnknownPeers } from '../queries/store-peers.ts';
import type { Logo } from '../queries/theme-files.ts';
import { findMissingLogos } from './logos.ts';
import { type GivenLogo, placeLogos } from './wanted-logos.ts';

/** A model as a client sends it. */
export interface GivenModel extends GivenEntry {
  key: string;
  type: string;
  default?: boolean;
  defaultLanguage: string;
  data: Record<string, unknown>;
  logos?: readonly GivenLogo[];
  change?: { after: string; type: string; reason?: string };
}

/** A model as it would be stored, and all that is wrong with what was given. */
interface ReadModel {
  /** Undefined if its own fields are not valid. */
  wanted: WantedModel | undefined;
  /** Images that are stored with it. */
  logos: readonly Logo[];
  faults: Fault[];
}

/** A model of a request, compared with what is there; nothing is stored. */
interface ComparedModel extends Omit<ReadModel, 'wanted'> {
  /** Undefined if its own fields are not valid. */
  compared: { wanted: WantedModel; step: PlannedStep } | undefined;
}

/** @param standing what is there under its key. */
export async function compareModel(
  db: Queries,
  given: GivenModel,
  standing: StandingModel | undefined,
): Promise<ComparedModel> {
  const { wanted, ...rest } = await readWanted(db, given, standing?.former?.data);
  return { ...rest, compared: wanted && { wanted, step: planModel(wanted, standing) } };
}

/** @param former contents of the version that is there. */
async function readWanted(
  db: Queries,
  given: GivenModel,
  former: VersionData | undefined,
): Promise<ReadModel> {
  const faults: Fault[] = [];
  const entry = await collect(faults, async () => {
    const read = readNewEntry(given);
    refuseUnknownPeers(read.sharedWith, await findUnknownPeers(db, read.sharedWith));
    return read;
  });
  if (!entry) return { wanted: undefined, logos: [], faults };
  const { defaultLanguage, change } = given;
  const { data, logos, faults: ofLogos } = await placeLogos(db, given, former);
  const content = await checkContent(entry.type, { defaultLanguage, data });
  faults.push(...ofLogos, ...content.faults, ...findUnknown(data, content.data, content.faults));
  const coming = logos.map(({ id }) => id);
  if (entry.type === 'theme') faults.push(...(await findMissingLogos(db, content.data, coming)));
  if (entry.type !== 'theme' && given.logos && given.logos.length > 0)
    faults.push({ pointer: '/logos', code: 'invalid', detail: 'is allowed for themes only' });
  if (given.default === true && entry.type !== 'information')
    faults.push({ pointer: '/default', code: 'invalid', detail: 'is allowed for information only' });
  const fields = { ...entry, key: given.key, type: entry.type as ModelType };
  return {
    wanted: {
      ...fields,
      default: given.default === true,
      defaultLanguage,
      data: content.data,
      ...(change && { change }),
    },
    logos,
    faults,
  };
}

/** A member with a fault is not read either. */
function findUnknown(given: Record<string, unknown>, read: VersionData, faults: readonly Fault[]): Fault[] {
  const isTold = (pointer: string) => faults.some((fault) => fault.pointer.startsWith(pointer));
  return Object.entries(given)
    .flatMap(([language, content]) => unknownMembers(content, read[language], `/data/${language}`))
    .filter(({ pointer }) => !isTold(pointer));
}

/** @returns undefined if `work` failed with faults, which are added. */
async function collect<T>(faults: Fault[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || !error.errors) throw error;
    faults.push(...error.errors);
    return undefined;
  }
}
