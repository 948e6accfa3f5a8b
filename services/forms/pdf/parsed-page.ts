/** A node of a rendered page. */
export interface Parsed {
  type: string;
  name?: string;
  data?: string;
  attribs?: Record<string, string>;
  children?: Parsed[];
}

export const groups = new Set('div section article header'.split(' '));
export const headings = new Set('h1 h2 h3 h4 h5 h6'.split(' '));
export const containers = new Set(
  'ul ol li blockquote table caption thead tbody tfoot tr th td dl dt dd'.split(' '),
);
const inlineTags = new Set('a strong em u s sub sup code span bdi'.split(' '));
const printedAs: Record<string, string> = { ins: 'u', del: 's' };

/** The inline element of receipt.typ that a node becomes; undefined if it is its content only. */
export function inlineTagOf({ name = '' }: Parsed): string | undefined {
  const tag = printedAs[name] ?? name;
  return inlineTags.has(tag) ? tag : undefined;
}

/** Those whose text does not change the order of its surroundings (receipt.typ). */
export const isolates = new Set(['bdi', 'code']);
const blocks = new Set([...groups, ...headings, ...containers, ...'p pre hr svg'.split(' ')]);
/** Each counts as one level of nesting. */
export const nesting = new Set('ul ol blockquote table dl'.split(' '));
const skipped = new Set('form button nav script style'.split(' '));
export const isItem = ({ name }: Parsed) => name === 'li';
export const isCell = ({ name }: Parsed) => name === 'td' || name === 'th';

/** The rows of a table and of its groups, those of `tfoot` last. */
export function rowsOf(nodes: readonly Parsed[]): Parsed[] {
  const isFoot = ({ name }: Parsed) => name === 'tfoot';
  const ordered = [...nodes.filter((node) => !isFoot(node)), ...nodes.filter(isFoot)];
  return ordered.flatMap((node) =>
    node.name === 'tr' ? [node] : (node.children ?? []).filter(({ name }) => name === 'tr'),
  );
}

export function isBlock(node: Parsed): boolean {
  return node.type === 'tag' && (blocks.has(node.name ?? '') || isFlag(node));
}

/** A warning, which has a line of its own on the page too. */
export function isFlag({ attribs = {} }: Parsed): boolean {
  return classesOf(attribs).includes('flag');
}

export function isSkipped({ name = '', attribs = {} }: Parsed): boolean {
  return skipped.has(name) || classesOf(attribs).includes('no-print');
}

export function classesOf(attribs: Record<string, string>): string[] {
  return attribs.class?.split(' ') ?? [];
}

export function find(nodes: readonly Parsed[], name: string): Parsed | undefined {
  for (const node of nodes) {
    const found = node.name === name ? node : find(node.children ?? [], name);
    if (found) return found;
  }
  return undefined;
}

export function textOf(node: Parsed | undefined): string {
  if (!node) return '';
  return node.data ?? (node.children ?? []).map(textOf).join('');
}
