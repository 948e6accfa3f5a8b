import type { UnsubscribePage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { Drawn } from './page-model.ts';

const titles = {
  asked: 'unsubscribe.title',
  ended: 'unsubscribe.done',
  undone: 'unsubscribe.undone',
} as const;

/** The page that ends messages of campaigns. */
export function unsubscribeView({ state, undo, instance }: Drawn<UnsubscribePage>, { t }: Reader) {
  const values = { instance: instance.name };
  return {
    title: t(titles[state]),
    text:
      state === 'undone' ? null : t(state === 'ended' ? 'unsubscribe.doneText' : 'unsubscribe.text', values),
    isDone: state !== 'asked',
    undo,
  };
}
