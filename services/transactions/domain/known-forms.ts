import { LRUCache } from 'lru-cache';
import type { FormDescription, PinnedLayout } from '#lib/contracts/forms.ts';

/** What forms said last of a form: a guess, to be held against what it says now (docs/adr/0012). */
export interface KnownForms {
  find(layout: PinnedLayout, languages: readonly string[]): FormDescription | undefined;
  keep(layout: PinnedLayout, languages: readonly string[], description: FormDescription): void;
}

const most = 200;

export function createKnownForms(): KnownForms {
  const known = new LRUCache<string, FormDescription>({ max: most });
  const keyOf = (...asked: [PinnedLayout, readonly string[]]) => JSON.stringify(asked);
  return {
    find: (layout, languages) => known.get(keyOf(layout, languages)),
    keep: (layout, languages, description) => void known.set(keyOf(layout, languages), description),
  };
}
