import { hash } from 'node:crypto';
import type { ActiveItem } from '../domain/check-answers.ts';
import type { CurrentForm } from './read-form.ts';

/** Names all that a form's description is made of, beside the layout and the languages that are asked for. */
export function revisionOf({ language, info, elements, peers, theme, active }: CurrentForm): string {
  const own = [info, ...elements.values(), theme].map(shown);
  const parts = peers.map((part) => [
    ...[part.url, part.name, part.asOf],
    ...[part.info, ...part.elements.values()].map(shown),
  ]);
  const versions = Object.entries(active).sort(([one], [other]) => (one < other ? -1 : 1));
  return hash('sha256', JSON.stringify([language, own, parts, versions]), 'base64url');
}

/** A version's content never changes; its entry's name may. */
function shown(item: ActiveItem | undefined): readonly string[] {
  return item ? [item.version.id, item.name] : [];
}
