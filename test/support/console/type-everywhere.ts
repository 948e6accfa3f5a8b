import { type Element, parsePage } from '../pages/parse-page.ts';
import type { ConsolePage, ConsolePerson } from './console-person.ts';
import { patternOf } from './walk-console.ts';

/** A form of a page: where it is sent, and what a browser sends if nothing is changed. */
interface PageForm {
  path: string;
  fields: Record<string, string>;
  /** Names of the fields that take text. */
  texts: string[];
}

const typed = ['', 'text', 'search', 'email', 'url', 'tel'];

/**
 * Opens the pages of the console to which links lead, and sends every form of theirs with a text in each of
 * its fields; of pages that differ in an id alone, one.
 * @param textOf the text for the field of this number.
 * @param seen is called with every page that is answered.
 * @returns how many fields were filled.
 */
export async function typeEverywhere(
  person: ConsolePerson,
  textOf: (field: number) => string,
  seen: (page: ConsolePage) => void,
): Promise<number> {
  const paths = ['/console'];
  const known = new Set(paths);
  const sent = new Set<string>();
  let count = 0;
  for (const path of paths) {
    const page = await person.open(path);
    seen(page);
    for (const { path: target, fields, texts } of formsOf(page)) {
      const pattern = `${patternOf(target)} ${texts.join(' ')}`;
      if (texts.length === 0 || sent.has(pattern)) continue;
      sent.add(pattern);
      const filled = Object.fromEntries(texts.map((name, index) => [name, textOf(count + index)]));
      count += texts.length;
      seen(await person.post(target, { ...fields, ...filled }));
    }
    for (const { attribs } of parsePage(page.html).tagged('a')) {
      const href = attribs.href ?? '';
      if (!href.startsWith('/console') || /format=|\/(export|json)$/.test(href) || known.has(patternOf(href)))
        continue;
      known.add(patternOf(href));
      paths.push(href);
    }
  }
  return count;
}

function formsOf({ html, path }: ConsolePage): PageForm[] {
  const parsed = parsePage(html);
  return parsed
    .tagged('form')
    .filter(({ attribs }) => attribs.method?.toLowerCase() === 'post')
    .map((form) => {
      const controls = parsed.elements.filter(
        (each) =>
          each.attribs.name &&
          (each.attribs.form === undefined ? isInside(each, form) : each.attribs.form === form.attribs.id),
      );
      const texts = controls.filter(
        ({ name, attribs }) =>
          name === 'textarea' || (name === 'input' && typed.includes(attribs.type ?? '')),
      );
      const kept = controls.filter(
        ({ name, attribs }) => (name === 'input' && attribs.type === 'hidden') || 'checked' in attribs,
      );
      return {
        path: form.attribs.action || path,
        fields: Object.fromEntries(kept.map(({ attribs }) => [attribs.name, attribs.value ?? 'on'])),
        texts: [...new Set(texts.map(({ attribs }) => attribs.name as string))],
      };
    });
}

function isInside(element: Element, ancestor: Element): boolean {
  for (let each = element.parent; each; each = each.parent) if (each === ancestor) return true;
  return false;
}
