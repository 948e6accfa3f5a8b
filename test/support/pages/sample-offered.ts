import type { PageBase } from '#lib/contracts/page-base.ts';
import { languagesIn } from '#lib/pages/catalogues.ts';
import { localesFolder } from '../../../services/forms/pages/words.ts';

/** All languages of the product, as a page offers them. */
export function offeredAt(path: string): NonNullable<PageBase['offered']> {
  return { languages: languagesIn(localesFolder), url: `https://consent.riverside.example${path}` };
}
