import type { Reader } from '#lib/pages/reader.ts';
import { controllerOf } from './facts.ts';
import { offeredLanguages } from './language-links.ts';
import type { EntryModel } from './page-model.ts';

/** The page of a form with an address of its own: what it is about, who asks, and how to begin. */
export function entryView(page: EntryModel, reader: Reader) {
  const { key, identify, information, instance, until, isOver, url, fault, consolePath } = page;
  const { t } = reader;
  const purpose = information?.texts.title as string | undefined;
  const organisation = controllerOf(page)?.controller.company;
  const signsIn = identify === 'SIGN_IN';
  const mayBegin = !isOver && (!signsIn || consolePath !== null);
  return {
    languages: offeredLanguages(page, reader),
    title: isOver ? t('entry.over') : (purpose ?? t('entry.title')),
    titleLanguage: information && !isOver ? reader.in(information.lang ?? page.language) : {},
    texts: isOver
      ? [t('entry.overText', { date: dateOf(until, reader) })]
      : [
          t('entry.asks', { organisation: organisation || instance.name }),
          t(`entry.${identify}`),
          ...(signsIn ? [] : [t('entry.hour')]),
          ...(until ? [t('entry.until', { date: dateOf(until, reader) })] : []),
          ...(mayBegin ? [] : [t('entry.noSignIn')]),
        ],
    /** Null for a page that has a form. */
    signIn: mayBegin && signsIn ? `${consolePath}/answer/${encodeURIComponent(key)}` : null,
    begin: mayBegin && !signsIn ? url : null,
    address:
      identify === 'EMAIL' ? { value: fault?.emailAddress, isFaulty: fault?.field === 'emailAddress' } : null,
    /** Whether a program has filled in the field that people do not see; then they see it. */
    isTrapped: fault?.field === 'website',
    isFaulty: fault !== undefined,
  };
}

function dateOf(until: string | undefined, reader: Reader): string {
  return until ? reader.date(until) : '';
}
