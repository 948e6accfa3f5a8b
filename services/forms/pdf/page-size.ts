import type { PageTree, TreeNode } from './page-tree.ts';

/** The page has so many elements that rendering it would take longer than a rendering may take. */
export class PageTooLong extends Error {
  constructor(nodes: number) {
    super(`the page has ${nodes} elements and pieces of text, more than ${maxNodes}`);
    this.name = 'PageTooLong';
  }
}

/** About 5,000 list items or a word of 60,000 letters: both take 2 s on one core. */
const maxNodes = 15_000;

/** @throws PageTooLong if the page has too many elements and pieces of text. */
export function checkSize({ masthead, content }: PageTree): void {
  const nodes = count(masthead) + count(content);
  if (nodes > maxNodes) throw new PageTooLong(nodes);
}

function count(nodes: readonly TreeNode[]): number {
  let total = nodes.length;
  for (const node of nodes) {
    if (typeof node === 'string') continue;
    total += count(node.children);
    for (const { cell } of node.cells ?? []) total += 1 + count(cell.children);
    for (const { label, values } of node.rows ?? []) total += count(label) + count(values);
  }
  return total;
}
