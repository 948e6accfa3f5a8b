import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { readActiveVersions } from '../standing/active-versions.ts';
import { mailDestination, smsDestination } from '../transaction/destination.ts';
import { readNow } from '../transaction/store.ts';
import { type Campaign, type Member, wantedOf } from './campaign.ts';
import { insertMembers } from './members-store.ts';
import { type Person, readPeople } from './people-store.ts';
import {
  type Exclusion,
  exclusionOf,
  type Need,
  needsOf,
  type PersonFacts,
  reasons,
  type Wanted,
} from './rules.ts';
import { lockCampaign, notePicked } from './store.ts';

export interface PickDependencies {
  db: Database;
  forms: Pick<FormsOperations, 'activeVersions'>;
}

/** A person whom the selection finds: what has to be asked, and why the person is not asked nevertheless. */
interface Found {
  person: Person;
  needs: Need[];
  why: Exclusion | undefined;
}

/** Where messages of a campaign to a person go; undefined without a valid address. */
export function destinationOf({ channel }: Pick<Campaign, 'channel'>, { address }: Pick<Person, 'address'>) {
  return (channel === 'EMAIL' ? mailDestination : smsDestination)(address ?? '');
}

export function factsOf(campaign: Pick<Campaign, 'channel'>, person: Person): PersonFacts {
  return { ...person, hasAddress: destinationOf(campaign, person) !== undefined };
}

/** The ACTIVE versions that decide about the answers of people to the elements of a campaign. */
export function readActive(
  forms: PickDependencies['forms'],
  { selection }: Pick<Campaign, 'selection'>,
  people: Iterable<Pick<Person, 'answers'>>,
): Promise<ActiveVersions> {
  const answers = [...people].flatMap((person) => person.answers);
  const elements = selection.elements.map((key) => ({ key, infoKey: key }));
  return readActiveVersions(forms, [...elements, ...answers]);
}

function findIn(campaign: Campaign, people: readonly Person[], wanted: Wanted): Found[] {
  return people.flatMap((person) => {
    const needs = needsOf(person, wanted);
    if (needs.length === 0) return [];
    return [{ person, needs, why: exclusionOf(factsOf(campaign, person), wanted.keys) }];
  });
}

/** Reads a batch of people, and finds those whom the selection means. */
async function findNext(
  db: Queries,
  { forms }: Pick<PickDependencies, 'forms'>,
  campaign: Campaign,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ found: Found[]; last: string | null }> {
  const people = await readPeople(db, campaign, { after, limit });
  const wanted = wantedOf(campaign, await readActive(forms, campaign, people), await readNow(db));
  return {
    found: findIn(campaign, people, wanted),
    last: people.length === limit ? (people.at(-1)?.reference ?? null) : null,
  };
}

const batch = 1_000;

/**
 * Picks the next people of a running campaign. What was committed is not done again.
 * @returns whether people may be left.
 */
export async function pickNext(dependencies: PickDependencies, id: string): Promise<boolean> {
  const { db } = dependencies;
  return db.withTransaction(async (tx) => {
    const campaign = await lockCampaign(tx, id);
    if (campaign?.state !== 'RUNNING' || campaign.isPicked) return false;
    const { found, last } = await findNext(tx, dependencies, campaign, {
      after: campaign.pickedTo,
      limit: batch,
    });
    const picked = found.flatMap(({ person: { reference }, needs: [need], why }) =>
      need && !why ? [{ reference, object: need.object, reason: need.reason }] : [],
    );
    await insertMembers(tx, id, picked);
    await notePicked(tx, id, last);
    return last !== null;
  });
}

/** How much a forecast reads. */
const forecastMs = 5_000;
const forecastBatch = 5_000;

/** Counts whom a campaign would ask now (openapi.yaml, `CampaignForecast`). */
export async function forecast(dependencies: PickDependencies, campaign: Campaign) {
  const stopAt = performance.now() + forecastMs;
  const all: { needs: Need[]; why: Exclusion | undefined }[] = [];
  let after: string | null = null;
  do {
    const { found, last }: Awaited<ReturnType<typeof findNext>> = await findNext(
      dependencies.db,
      dependencies,
      campaign,
      { after, limit: forecastBatch },
    );
    for (const { needs, why } of found) all.push({ needs, why });
    after = last;
  } while (after !== null && performance.now() < stopAt);
  const excluded = Map.groupBy(
    all.flatMap(({ why }) => why ?? []),
    (why) => why,
  );
  return {
    people: all.length,
    asked: all.filter(({ why }) => !why).length,
    reasons: reasons
      .filter((reason) => campaign.selection.who.includes(reason))
      .map((reason) => ({
        reason,
        people: all.filter(({ needs }) => needs[0]?.reason === reason).length,
        answers: all.reduce(
          (sum, { needs }) => sum + needs.filter((need) => need.reason === reason).length,
          0,
        ),
      })),
    excluded: [...excluded].map(([why, { length }]) => ({ why, people: length })),
    atLeast: after !== null,
  };
}

/** People read for a page of a draft's list, at most. */
const maxRead = 20_000;

/** Whom a draft would ask now, in the order of their ids. @returns last: where the next page begins. */
export async function listFound(
  dependencies: PickDependencies,
  campaign: Campaign,
  { after, limit }: { after: string | null; limit: number },
): Promise<{ members: Member[]; last: string | null }> {
  const members: Member[] = [];
  let from = after;
  for (let read = 0; read < maxRead; read += batch) {
    const { found, last } = await findNext(dependencies.db, dependencies, campaign, {
      after: from,
      limit: batch,
    });
    members.push(...found.map(foundMember));
    if (members.length > limit) break;
    from = last;
    if (last === null) return { members, last };
  }
  const page = members.slice(0, limit);
  return { members: page, last: members.length > limit ? (page.at(-1)?.reference ?? null) : from };
}

function foundMember({ person: { reference, name, address }, needs: [need], why }: Found): Member {
  return {
    reference,
    subject: name,
    address,
    reason: need?.reason ?? 'NEVER',
    state: why ? 'SKIPPED' : 'PICKED',
    why: why ?? null,
    step: 0,
    transaction: null,
    changedAt: null,
  };
}
