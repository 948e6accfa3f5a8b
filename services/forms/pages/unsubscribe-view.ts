import type { UnsubscribePage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { Drawn } from './page-model.ts';

/** The page that ends messages of campaigns. */
export function unsubscribeView({ isDone, instance }: Drawn<UnsubscribePage>, { t }: Reader) {
  const values = { instance: instance.name };
  return {
    title: t(isDone ? 'unsubscribe.done' : 'unsubscribe.title'),
    text: t(isDone ? 'unsubscribe.doneText' : 'unsubscribe.text', values),
    isDone,
  };
}
