import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import type { Edited } from '../../pages/merge.ts';
import type { Layout } from './layout-values.ts';

/** What a button of the designer has done; it saves nothing. */
export interface Changed {
  layout: Edited;
  /** The row of elements or the field that gets the focus. */
  focus?: { row: number; button: 'up' | 'down' | 'remove' } | { field: string };
}

/**
 * Carries out a button of the designer.
 * @param op such as `up:2`, `add:processing.001`, `removeLanguage:fr`. Unknown ones change nothing.
 * @param typed what the buttons beside a field use: a language tag, and by row the place to move it to,
 * counted from 1.
 */
export function applyOp(
  layout: Layout,
  op: string,
  typed: { newLanguage: string; places: Readonly<Record<number, number>> },
): Changed {
  const [act = '', ...rest] = op.split(':');
  const given = rest.join(':');
  switch (act) {
    case 'up':
      return moveTo(layout, Number(given), Number(given) - 1);
    case 'down':
      return moveTo(layout, Number(given), Number(given) + 1);
    case 'place':
      return moveToPlace(layout, Number(given), typed.places[Number(given)]);
    case 'dropped':
      // The fields arrive in their new order.
      return { layout, focus: { row: Number(given), button: 'up' } };
    case 'remove':
      return remove(layout, Number(given));
    case 'add':
      return add(layout, given);
    case 'addLanguage':
      return addLanguage(layout, typed.newLanguage);
    case 'removeLanguage':
      return removeLanguage(layout, given);
    case 'search':
      return { layout, focus: { field: 'word' } };
    default:
      return { layout };
  }
}

function withElements({ languages, values }: Edited, elements: readonly string[]): Edited {
  return { languages, values: { ...values, elements } };
}

function moveTo(layout: Layout, index: number, to: number): Changed {
  const elements = [...layout.elements];
  const [moved] = elements[to] === undefined ? [] : elements.splice(index, 1);
  if (moved === undefined) return { layout };
  elements.splice(to, 0, moved);
  return { layout: withElements(layout, elements), focus: { row: to, button: to < index ? 'up' : 'down' } };
}

/** A place beyond the ends of the list is its end; without a number nothing moves. */
function moveToPlace(layout: Layout, index: number, place = Number.NaN): Changed {
  if (Number.isNaN(place)) return { layout, focus: { row: index, button: 'up' } };
  return moveTo(layout, index, Math.min(Math.max(Math.trunc(place), 1), layout.elements.length) - 1);
}

function remove(layout: Layout, index: number): Changed {
  const elements = layout.elements.filter((_, each) => each !== index);
  const row = Math.min(index, elements.length - 1);
  const focus: Changed['focus'] = row < 0 ? { field: 'word' } : { row, button: 'remove' };
  return { layout: withElements(layout, elements), focus };
}

function add(layout: Layout, reference: string): Changed {
  if (reference === '' || layout.elements.includes(reference)) return { layout };
  const elements = [...layout.elements, reference];
  return { layout: withElements(layout, elements), focus: { row: elements.length - 1, button: 'up' } };
}

function addLanguage(layout: Layout, typed: string): Changed {
  const language = canonicalLanguageTag(typed);
  if (!language || layout.languages.includes(language)) return { layout, focus: { field: 'newLanguage' } };
  const languages = [...layout.languages, language];
  return { layout: { ...layout, languages }, focus: { field: `submitText-${language}` } };
}

/** The default language stays. */
function removeLanguage(layout: Layout, language: string): Changed {
  if (language === layout.defaultLanguage) return { layout };
  const languages = layout.languages.filter((each) => each !== language);
  return { layout: { ...layout, languages }, focus: { field: 'newLanguage' } };
}
