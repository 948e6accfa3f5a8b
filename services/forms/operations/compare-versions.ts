import { LRUCache } from 'lru-cache';
import type { FormChange, FormElement } from '#lib/contracts/form-content.ts';
import { type ComparisonBudget, createBudget } from '#lib/text/compare-words.ts';
import type { ContentVersion } from '../domain/content-version.ts';
import { parseIdentifier } from '../domain/identifiers.ts';
import { readSerials } from '../queries/active-entries.ts';
import type { VersionsContext } from './context.ts';

/** Comparisons that are kept, of about 10 kB each. */
const maxKept = 500;

/** Identifiers of versions that were activated. */
interface Pair {
  from: string;
  to: string;
}

/**
 * Compares versions of own entries, as people read them (docs/interface.md, "Asking again").
 * @returns what differs, for each pair; nothing for a version that no longer exists.
 */
export type CompareVersions = (pairs: readonly Pair[], language: string) => Promise<FormChange['fields'][]>;

/** Activated contents never change, so comparisons are cached. */
export function createCompareVersions({ db, contents, renderer }: VersionsContext): CompareVersions {
  /** Also comparisons that are being made, so that concurrent requests for the same ones wait for them. */
  const kept = new LRUCache<string, Promise<FormChange['fields']>>({ max: maxKept });

  /** The versions with these identifiers, without those whose entry was removed. */
  async function readByIdentifier(identifiers: readonly string[]): Promise<Map<string, ContentVersion>> {
    const wanted = identifiers.flatMap((identifier) => parseIdentifier(identifier) ?? []);
    const own = wanted.filter(({ key }) => !key.includes('@'));
    // The time matters only to `accepted`, which is not read.
    const rows = await readSerials(db, own, new Date(0).toISOString());
    const found = await contents.get(rows.map(({ id }) => id));
    return new Map([...found.values()].map((version) => [version.identifier, version]));
  }

  return async (pairs, language) => {
    const key = ({ from, to }: Pair) => `${from} ${to} ${language}`;
    const missing = pairs.filter((pair) => !kept.has(key(pair)));
    const versions = await readByIdentifier([...new Set(missing.flatMap(({ from, to }) => [from, to]))]);
    const budget = createBudget();
    const fields = new Map<string, FormChange['fields']>();
    for (const pair of pairs) {
      const [before, after] = [versions.get(pair.from), versions.get(pair.to)];
      const describe = (version: ContentVersion) => version.describe(language, version.key) as FormElement;
      const known = kept.get(key(pair));
      const comparison =
        known ??
        (before &&
          after &&
          renderer.compare({ before: describe(before), after: describe(after), language, budget }));
      if (!comparison) continue;
      if (!known) keep(key(pair), comparison, budget);
      fields.set(key(pair), await comparison);
    }
    return pairs.map((pair) => fields.get(key(pair)) ?? []);
  };

  /** Keeps a comparison, unless the budget did not suffice for it: the next view goes on from there. */
  function keep(key: string, comparison: Promise<FormChange['fields']>, budget: ComparisonBudget): void {
    kept.set(key, comparison);
    const forgetUnfinished = () => void (budget.left <= 0 && kept.delete(key));
    comparison.then(forgetUnfinished, () => kept.delete(key));
  }
}
