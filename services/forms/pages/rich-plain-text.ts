import { listMarkers } from '../domain/list-markers.ts';
import { isBlock } from './rich-structure.ts';
import type { RichElement, RichNode } from './rich-text-tree.ts';

/** Separates the cells of a row. */
export const cellSeparator = ' | ';

/**
 * Raised numbers as text, because `10²` and `102` mean different things; other raised and lowered letters
 * stay letters.
 */
export function raised(text: string): string {
  return /^[\d+−-]+$/.test(text) ? `^${text}` : text;
}

/** Stands around text that is struck out, which would mean the opposite without it. */
export const strikeMark = '~~';

/**
 * Converts rich text to plain text with all that has a meaning: a line for each block, the numbers of items,
 * the columns of tables, what is struck out. The address of a link follows its text.
 */
export function plainText(nodes: readonly RichNode[]): string {
  return write(nodes)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

function write(nodes: readonly RichNode[]): string {
  return nodes
    .map((node) => ('tag' in node ? writeElement(node) : node.text.replaceAll(/\s+/g, ' ')))
    .join('');
}

function writeElement(element: RichElement): string {
  const { tag, attributes, children } = element;
  switch (tag) {
    case 'br':
      return '\n';
    case 'pre':
      return `\n${children.map((node) => ('tag' in node ? writeElement(node) : node.text)).join('')}\n`;
    case 'ol':
      return writeList(element);
    case 'tr':
      return `\n${children.map((cell) => write([cell]).trim()).join(cellSeparator)}\n`;
    case 'td':
    case 'th':
      return write(children);
    case 'sup':
      return raised(write(children));
    case 's':
    case 'del':
      return strikeMark + write(children) + strikeMark;
    default:
      return isBlock(element) ? `\n${write(children)}\n` : withAddress(write(children), attributes.href);
  }
}

function withAddress(text: string, href: string | undefined): string {
  return href && !text.includes(href) ? `${text} ${href}` : text;
}

function writeList({ attributes, children }: RichElement): string {
  const items = children.filter((item) => 'tag' in item);
  const markers = listMarkers(
    attributes,
    items.map((item) => item.attributes),
  );
  return `\n${items.map((item, index) => `${markers[index]} ${write([item]).trim()}\n`).join('')}`;
}
