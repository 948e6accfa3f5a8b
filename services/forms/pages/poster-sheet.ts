import { publicFormUrl } from '#lib/contracts/public-forms.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { PosterSheet } from '../pdf/typesetter.ts';
import { entryView } from './entry-view.ts';
import { controllerOf } from './facts.ts';
import type { EntryModel } from './page-model.ts';

/** A page of the poster of a form, from the page at its address. */
export function posterSheet(page: EntryModel, reader: Reader): PosterSheet {
  const { t, language, dir } = reader;
  const organisation = controllerOf(page)?.controller.company || page.instance.name;
  const { title, titleLanguage } = entryView(page, reader);
  return {
    lang: language,
    dir,
    organisation,
    asks: t('entry.asks', { organisation }),
    title,
    titleLanguage,
    text: t('poster.text'),
    alt: t('poster.alt', { url: publicFormUrl(page.instance.baseUrl, page.key) }),
    until: page.until ? t('entry.until', { date: reader.date(page.until) }) : '',
  };
}
