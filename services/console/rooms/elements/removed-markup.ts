import { Parser } from 'htmlparser2';
import type { Content } from '../../models/editor.ts';
import type { PostedForm } from '../../pages/form.ts';
import type { ContentField } from './content-fields.ts';
import { inputName, shownValues } from './content-values.ts';

/** Markup that the API did not store. */
export interface RemovedMarkup {
  /** Name of the input. */
  name: string;
  /** Elements, such as `<img>`, and attributes of stored elements, such as `<p class>`. */
  tags: readonly string[];
}

/** Most elements that are named for one text. */
const maxTags = 12;

/** Compares the rich texts that were sent with those that the API has stored. */
export function removedMarkup(
  fields: readonly ContentField[],
  sent: PostedForm,
  stored: Content['data'],
): RemovedMarkup[] {
  return Object.entries(stored).flatMap(([language, members]) =>
    fields
      .filter(({ kind }) => kind === 'rich')
      .flatMap((field) => {
        const name = inputName(language, field.path);
        const tags = missingTags(sent[name]?.[0] ?? '', shownValues(members, field)[0] ?? '');
        return tags.length > 0 ? { name, tags: tags.slice(0, maxTags) } : [];
      }),
  );
}

function missingTags(sent: string, stored: string): string[] {
  const kept = countTags(stored);
  return [...countTags(sent)].flatMap(([tag, { element, count }]) => {
    // An element that is gone has no attributes to tell.
    const isTold = tag === element || kept.has(element);
    return isTold && (kept.get(tag)?.count ?? 0) < count ? `<${tag}>` : [];
  });
}

/** How often each element, and each attribute of an element, occurs. */
function countTags(html: string): Map<string, { element: string; count: number }> {
  const counts = new Map<string, { element: string; count: number }>();
  const add = (tag: string, element: string) =>
    counts.set(tag, { element, count: (counts.get(tag)?.count ?? 0) + 1 });
  const parser = new Parser({
    onopentag(element, attributes) {
      add(element, element);
      for (const attribute of Object.keys(attributes)) add(`${element} ${attribute}`, element);
    },
  });
  parser.end(html);
  return counts;
}
