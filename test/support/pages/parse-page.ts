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
