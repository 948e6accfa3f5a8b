import type { RichElement, RichNode } from './rich-text-tree.ts';

const set = (names: string) => new Set(names.split(' '));

/** Elements that have only certain children. */
const partsOf: Record<string, ReadonlySet<string>> = {
  ul: set('li'),
  ol: set('li'),
  dl: set('dt dd'),
  table: set('caption thead tbody tfoot tr'),
  thead: set('tr'),
  tbody: set('tr'),
  tfoot: set('tr'),
  tr: set('td th'),
};
const parts = new Set(Object.values(partsOf).flatMap((names) => [...names]));
const lists = set('ul ol dl');
const cells = set('td th');
const flows = set('ul ol dl table p hr pre blockquote h1 h2 h3 h4 h5 h6');
/** Blocks that hold text and inline elements only. */
const lines = set('p pre h1 h2 h3 h4 h5 h6');
const containers = new Set([...flows, ...parts]);

/** Whether a node is a block of its own, or a part of one. */
export function isBlock(node: RichNode): node is RichElement {
  return 'tag' in node && containers.has(node.tag);
}

const isBlank = (node: RichNode) => 'text' in node && node.text.trim() === '';

/**
 * Puts an element whose children are arranged already where HTML allows it, as browsers do, so that all
 * formats show the same: text beside the cells of a table stands before it, a list in bold text is a list of
 * bold texts.
 * @returns the nodes that take its place.
 */
export function arrange(element: RichElement): RichNode[] {
  const { tag, children } = element;
  const names = partsOf[tag];
  if (names) return arrangeParts(element, names);
  const flow = children.flatMap(withoutHolder);
  if (!flow.some(isBlock)) return [{ ...element, children: flow }];
  if (lines.has(tag)) return inRuns(flow, (run) => ({ ...element, children: run }));
  return containers.has(tag) ? [{ ...element, children: flow }] : wrapLines(element, flow);
}

/** A part, such as an item, that no list or table holds is its content. */
function withoutHolder(node: RichNode): RichNode[] {
  if (!('tag' in node) || !parts.has(node.tag)) return [node];
  const content = node.children.flatMap(withoutHolder);
  return content.some(isBlock) ? content : [{ ...node, tag: 'p', attributes: {}, children: content }];
}

/** A list, or a table or a group of its rows. */
function arrangeParts(element: RichElement, names: ReadonlySet<string>): RichNode[] {
  const before: RichNode[] = [];
  const kept: RichElement[] = [];
  let strays: RichNode[] = [];
  // What stands between the items of a list belongs to the one before.
  const place = () => {
    if (strays.every(isBlank)) strays = [];
    if (strays.length === 0) return;
    const last = lists.has(element.tag) ? kept.pop() : undefined;
    if (last) kept.push({ ...last, children: [...last.children, ...inParagraphs(strays)] });
    else before.push(...strays.flatMap(withoutHolder));
    strays = [];
  };
  for (const node of withRows(element, names)) {
    if (!('tag' in node) || !names.has(node.tag)) {
      strays.push(node);
      continue;
    }
    place();
    kept.push(node);
  }
  place();
  return [...before, { ...element, children: kept }];
}

/** The children of a table or of a group of its rows; cells without a row are one. */
function withRows({ children }: RichElement, names: ReadonlySet<string>): RichNode[] {
  if (!names.has('tr')) return children;
  const isCell = (node: RichNode) => 'tag' in node && cells.has(node.tag);
  const rows: RichNode[] = [];
  let row: RichNode[] | undefined;
  for (const node of children) {
    if (isCell(node) && row) row.push(node);
    else if (isCell(node)) {
      row = [node];
      rows.push({ tag: 'tr', attributes: {}, children: row });
    } else {
      row = undefined;
      rows.push(node);
    }
  }
  return rows;
}

/** Blocks in an inline element: the element goes into each of their lines. */
function wrapLines(element: RichElement, nodes: readonly RichNode[]): RichNode[] {
  return inRuns(nodes, (run) => ({ ...element, children: run })).map((node) =>
    isBlock(node) ? { ...node, children: wrapLines(element, node.children) } : node,
  );
}

/** Wraps the nodes between blocks; blank ones are left out. */
function inRuns(nodes: readonly RichNode[], wrap: (run: RichNode[]) => RichNode): RichNode[] {
  const result: RichNode[] = [];
  let run: RichNode[] = [];
  const close = () => {
    if (!run.every(isBlank)) result.push(wrap(run));
    run = [];
  };
  for (const node of nodes) {
    if (isBlock(node)) {
      close();
      result.push(node);
    } else run.push(node);
  }
  close();
  return result;
}

/** Wraps text and inline elements outside of blocks in paragraphs. */
export function inParagraphs(nodes: readonly RichNode[]): RichNode[] {
  return inRuns(nodes.flatMap(withoutHolder), (children) => ({ tag: 'p', attributes: {}, children }));
}
