import type { UnsubscribePage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { offeredLanguages } from './language-links.ts';
import type { Drawn } from './page-model.ts';

const titles = {
  asked: 'unsubscribe.title',
  ended: 'unsubscribe.done',
  undone: 'unsubscribe.undone',
} as const;

/** The page that ends messages of campaigns. */
export function unsubscribeView(page: Drawn<UnsubscribePage>, reader: Reader) {
  const { state, undo, instance } = page;
  const { t } = reader;
  const values = { instance: instance.name };
  return {
    languages: offeredLanguages(page, reader),
    title: t(titles[state]),
    text:
      state === 'undone' ? null : t(state === 'ended' ? 'unsubscribe.doneText' : 'unsubscribe.text', values),
    isDone: state !== 'asked',
    undo,
  };
}
