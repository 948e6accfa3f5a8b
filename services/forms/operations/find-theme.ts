import type { PageTheme } from '#lib/contracts/page-base.ts';
import type { Database } from '#lib/db/database.ts';
import { isEntryId } from '../domain/model-key.ts';
import { pageTheme } from '../domain/page-theme.ts';
import { readActive } from '../queries/active-entries.ts';
import type { ContentCache } from './content-cache.ts';

/** The internal operation `theme`. @param input.key a key or an entry id. */
export function createFindTheme({ db, contents }: { db: Database; contents: ContentCache }) {
  return async ({ key, language }: { key: string; language: string }): Promise<PageTheme | null> => {
    const [row] = await readActive(db, { keys: [key], ids: isEntryId(key) ? [key] : [] });
    if (row?.type !== 'theme' || !row.version) return null;
    const version = (await contents.get([row.version])).get(row.version);
    return version ? pageTheme(version, language) : null;
  };
}
