import { DomUtils, parseDocument } from 'htmlparser2';

export type Element = ReturnType<typeof DomUtils.getElementsByTagName>[number];

/** A page as a browser's parser would see it, for tests that look at its structure. */
export interface ParsedPage {
  elements: Element[];
  /** Elements of a tag. */
  tagged(name: string): Element[];
  /** Every element with its attributes' names, in order: what escaping must not let a text change. */
  skeleton: string[];
  text(element?: Element): string;
}

/** Links of a page to places in itself that are not there, such as a fault's link to its field. */
export function lostLinks(html: string): string[] {
  // A part of a page links to the rest of it.
  if (!/^\s*<!doctype html/i.test(html)) return [];
  const ids = new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id));
  return [...html.matchAll(/\shref="#([^"]+)"/g)].flatMap(([, id = '']) => (ids.has(id) ? [] : [`#${id}`]));
}

/** The links of a page to itself in other languages. */
export const languagesOn = (page: ParsedPage): Element[] =>
  page.tagged('a').filter(({ attribs }) => attribs.hreflang !== undefined);

export function parsePage(html: string): ParsedPage {
  const document = parseDocument(html);
  const elements = DomUtils.getElementsByTagName('*', document);
  return {
    elements,
    tagged: (name) => elements.filter((element) => element.name === name),
    skeleton: elements.map(({ name, attribs }) => `${name}[${Object.keys(attribs).sort().join(' ')}]`),
    text: (element) => DomUtils.textContent(element ?? document),
  };
}
