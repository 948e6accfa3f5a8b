import { LRUCache } from 'lru-cache';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { VersionAt, VersionsAt } from '#lib/contracts/versions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type EventBus, eachReplica } from '#lib/events/event-bus.ts';
import { readNow } from '../transaction/store.ts';
import { type Decision, decideElement, decidePurpose, type ElementDecision } from './decision.ts';
import { type Probed, readAnswersAt } from './store.ts';

/** Whether a subject permits an element, or each element that has a purpose. */
export interface Question {
  subject: string;
  /** Empty for none: an answer with an object says nothing about another one, or about none. */
  object: string;
  about: { element: string } | { purpose: string };
  /** Not in the future; now if absent. */
  asOf: Date | undefined;
  /** Of the person, as an earlier decision states it. */
  position: number | undefined;
  /** Whether answers that were taken over from another system do not count (`evidence: COLLECTED`). */
  isCollectedAlone: boolean;
}

/** Keys and purposes at a time, as forms knows them. */
export type ReadVersions = FormsOperations['versionsAt'];

export interface DecideDependencies {
  db: Queries;
  versions: ReadVersions;
}

/** How long a decision may be taken by versions that are no longer ACTIVE, if no event reports the change. */
const maxAgeMs = 1000;

/**
 * Keeps what forms says about the present for a second, because programs ask the same questions about many
 * people. Each replica drops it when a model has changed.
 */
export function createVersionsCache({
  forms,
  bus,
}: {
  forms: Pick<FormsOperations, 'versionsAt'>;
  bus: Pick<EventBus, 'subscribe'>;
}): ReadVersions {
  const kept = new LRUCache<string, Promise<VersionsAt>>({ max: 1000, ttl: maxAgeMs });
  const forget = () => kept.clear();
  bus.subscribe('accord.models', eachReplica('transactions', forget), async () => forget());
  return (wanted) => {
    if (wanted.at !== undefined) return forms.versionsAt(wanted);
    const name = JSON.stringify([wanted.keys, wanted.purposes]);
    const known = kept.get(name);
    if (known) return known;
    const read = forms.versionsAt(wanted);
    kept.set(name, read);
    read.catch(() => kept.get(name) === read && kept.delete(name));
    return read;
  };
}

/**
 * Decides whether subjects permit what is asked, in the order of the questions.
 * @throws Failure `unavailable` while forms or the database cannot be reached: nothing is permitted then.
 */
export async function decide(
  { db, versions }: DecideDependencies,
  questions: readonly Question[],
): Promise<Decision[]> {
  const entries = await readEntries(
    versions,
    questions.map(({ about, asOf }) =>
      'element' in about
        ? { asOf, keys: [about.element], purposes: [] }
        : { asOf, keys: [], purposes: [about.purpose] },
    ),
  );
  const items = questions.flatMap((question) => {
    const { about, asOf } = question;
    const keys = 'element' in about ? [about.element] : entries(asOf).withPurpose(about.purpose);
    return keys.map((key) => ({ ...question, question, key }));
  });
  const answers = await readAnswersAt(db, items);
  const informations = await readEntries(
    versions,
    items.flatMap(({ asOf }, place) => {
      const infoKey = answers[place]?.answer?.infoKey;
      return infoKey === undefined ? [] : [{ asOf, keys: [infoKey], purposes: [] }];
    }),
  );
  const decided = items.map(({ question, key, object, asOf }, place) => {
    const { answer, restricted, position, asOf: readAt } = answers[place] as Probed;
    const version = entries(asOf).version(key);
    const information = answer && informations(asOf).version(answer.infoKey);
    const { isCollectedAlone } = question;
    const about = { element: key, object, version, restricted, answer, information };
    const facts = { ...about, asOf: readAt, position, isCollectedAlone };
    return { question, decision: decideElement(facts) };
  });
  const byQuestion = Map.groupBy(decided, ({ question }) => question);
  const now = byQuestion.size < questions.length ? await readNow(db) : undefined;
  return questions.map((question) => {
    const { about, object, asOf } = question;
    const decisions = (byQuestion.get(question) ?? []).map(({ decision }) => decision);
    if ('purpose' in about) return decidePurpose(about.purpose, { object, decisions, asOf: asOf ?? now });
    return decisions[0] as ElementDecision;
  });
}

/** Entries at a time. */
interface Entries {
  version(key: string): VersionAt | undefined;
  /** Keys of the own processings that have it. */
  withPurpose(purpose: string): string[];
}

/** Asks forms once for each time. @returns the entries at one of these times. */
async function readEntries(
  versions: ReadVersions,
  wanted: readonly { asOf: Date | undefined; keys: string[]; purposes: string[] }[],
): Promise<(asOf: Date | undefined) => Entries> {
  const byTime = Map.groupBy(wanted, ({ asOf }) => asOf?.toISOString());
  const read = [...byTime].map(async ([at, group]) => {
    const keys = [...new Set(group.flatMap((each) => each.keys))];
    const purposes = [...new Set(group.flatMap((each) => each.purposes))];
    const found = await versions({ keys, purposes, ...(at !== undefined && { at }) });
    // Callers choose the keys, and `constructor` is in every object.
    const known = new Map(Object.entries(found.versions));
    const having = new Map(Object.entries(found.purposes));
    return [at, { known, having }] as const;
  });
  const times = new Map(await Promise.all(read));
  return (asOf) => {
    const time = times.get(asOf?.toISOString());
    return {
      version: (key) => time?.known.get(key),
      withPurpose: (purpose) => time?.having.get(purpose) ?? [],
    };
  };
}
