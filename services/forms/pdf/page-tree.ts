import { parseDocument } from 'htmlparser2';
import { listMarkers } from '../domain/list-markers.ts';
import {
  classesOf,
  containers,
  find,
  groups,
  headings,
  inlineTagOf,
  isBlock,
  isCell,
  isFlag,
  isItem,
  isolates,
  isSkipped,
  nesting,
  type Parsed,
  rowsOf,
  textOf,
} from './parsed-page.ts';
import { breakLongWords } from './printable-text.ts';
import { type PlacedCell, placeCells } from './table-grid.ts';

/** Text, or an element with its content. The language and direction are those of the content. */
export type TreeNode = string | TreeElement;

export interface TreeElement {
  /** A kind that receipt.typ knows. */
  tag: string;
  lang?: string;
  dir?: string;
  class?: string;
  href?: string;
  alt?: string;
  /** The source of an image. */
  svg?: string;
  /** Rows of `facts`: labels and their values. */
  rows?: { label: TreeNode[]; values: TreeElement[] }[];
  /** The numbers of the items of `ol`. */
  markers?: string[];
  /** The columns of `table`, and the places of its cells. */
  columns?: number;
  cells?: PlacedCell<TreeElement>[];
  children: TreeNode[];
}

/** A page to be typeset. */
export interface PageTree {
  language: string;
  dir: string;
  title: string;
  masthead: TreeElement[];
  content: TreeElement[];
}

/** Converts the text of a node, e.g. replaces characters that fonts do not have. */
type ConvertText = (text: string) => string;

/**
 * Converts a rendered page to a tree of the elements that are printed. A PDF therefore has the same facts as
 * the page, and the typesetter never reads a text as markup.
 */
export function readPageTree(html: string, convert: ConvertText): PageTree {
  const { children = [] }: Parsed = parseDocument(html);
  const page = find(children, 'html');
  const body = page?.children ?? [];
  const read = createTreeReader(convert);
  return {
    language: page?.attribs?.lang ?? 'en',
    dir: page?.attribs?.dir ?? 'ltr',
    title: convert(textOf(find(body, 'title'))),
    masthead: read(find(body, 'header')?.children ?? []),
    content: read(find(body, 'main')?.children ?? []),
  };
}

interface Setting {
  /** Whether line breaks in texts are shown. */
  lines: boolean;
  /** Number of letters that certainly fit in a line. */
  longest: number;
  /** How many lists, tables and quotations, and how many inline elements, surround the text. */
  depth: number;
  inlineDepth: number;
  isLink: boolean;
}

/** The typesetter takes about 60 nested rules; a list of facts takes six, a table of inline elements more. */
const maxDepth = 6;
const maxInlineDepth = 8;
/** More columns would be narrower than a letter. */
const maxColumns = 20;

/** Typst fails where a line ends at a soft hyphen that ends a link (github.com/typst/typst/issues/8608). */
const softHyphen = '\u00ad';

/** Estimated from the widths of the letters and of the columns in receipt.typ. */
const longestWord = { text: 36, answers: 20, code: 60 };

function createTreeReader(convert: ConvertText): (nodes: Parsed[]) => TreeElement[] {
  /** Block elements; text and inline elements between them become paragraphs. */
  function readBlocks(nodes: readonly Parsed[], setting: Setting): TreeElement[] {
    const result: TreeElement[] = [];
    let open: Parsed[] = [];
    const close = () => {
      const children = readInline(open, setting);
      if (children.some((child) => typeof child !== 'string' || child.trim() !== ''))
        result.push({ tag: 'p', children });
      open = [];
    };
    for (const node of nodes) {
      if (isBlock(node)) {
        close();
        result.push(...readBlock(node, setting));
      } else open.push(node);
    }
    close();
    return result;
  }

  function readBlock(node: Parsed, given: Setting): TreeElement[] {
    const { name = '', attribs = {}, children = [] } = node;
    if (isSkipped(node)) return [];
    const setting = settingOf(node, given);
    const marks = marksOf(attribs);
    if (name === 'svg') return readImage(node);
    if (name === 'hr') return [{ tag: 'hr', children: [] }];
    if (setting.depth > maxDepth && containers.has(name)) return readFlat(node, setting);
    if (name === 'dl') return [{ tag: 'facts', ...marks, rows: readRows(children, setting), children: [] }];
    if (name === 'ul' || name === 'ol') return [readList(node, setting)];
    if (name === 'table') return readTable(node, setting);
    if (isFlag(node)) return [{ tag: 'p', ...marks, children: readInline([node], setting) }];
    if (name === 'p' || name === 'pre' || headings.has(name))
      return [{ tag: name, ...marks, children: readInline(children, setting) }];
    return [{ tag: groups.has(name) ? 'div' : name, ...marks, children: readBlocks(children, setting) }];
  }

  /** Lists, tables and quotations that are nested too deeply for the typesetter: their lines. */
  function readFlat({ name, attribs = {}, children = [] }: Parsed, setting: Setting): TreeElement[] {
    const marks = marksOf(attribs);
    if (name !== 'ul' && name !== 'ol')
      return [{ tag: 'div', ...marks, children: readBlocks(children, setting) }];
    const items = children.filter(isItem);
    const markers = name === 'ol' ? markersOf(attribs, items) : items.map(() => '•');
    return items.map((item, index) => ({
      tag: 'div',
      ...marksOf(item.attribs ?? {}),
      children: readBlocks([{ type: 'text', data: `${markers[index]} ` }, ...(item.children ?? [])], setting),
    }));
  }

  function readList({ name = '', attribs = {}, children = [] }: Parsed, setting: Setting): TreeElement {
    const items = children.filter(isItem);
    const read = items.map((item) => ({
      tag: 'li',
      ...marksOf(item.attribs ?? {}),
      children: readBlocks(item.children ?? [], setting),
    }));
    const markers = name === 'ol' && { markers: markersOf(attribs, items) };
    return { tag: name, ...marksOf(attribs), ...markers, children: read };
  }

  /** The caption, and the cells in a grid; a table with too many columns is a line for each row. */
  function readTable({ attribs = {}, children = [] }: Parsed, setting: Setting): TreeElement[] {
    const marks = marksOf(attribs);
    const rows = rowsOf(children).map(({ children: cells = [] }) => cells.filter(isCell));
    const grid = placeCells(rows);
    const captions = children.filter(({ name }) => name === 'caption');
    const before = captions.flatMap((caption) => readBlocks(caption.children ?? [], setting));
    if (grid.columns > maxColumns) return [...before, ...rows.map((cells) => readRow(cells, setting))];
    const longest = Math.max(1, Math.floor(setting.longest / grid.columns) - 1);
    const inCell = grid.columns === 1 ? setting : { ...setting, longest };
    const cells = grid.cells.map(({ cell, ...place }) => {
      const { name = '', attribs: own = {}, children: content = [] } = cell;
      return {
        ...place,
        cell: { tag: name, ...marksOf(own), children: readBlocks(content, settingOf(cell, inCell)) },
      };
    });
    if (cells.length === 0) return before;
    return [...before, { tag: 'table', ...marks, columns: grid.columns, cells, children: [] }];
  }

  function readRow(cells: readonly Parsed[], setting: Setting): TreeElement {
    const children = cells.flatMap((cell, index): TreeNode[] => [
      ...(index > 0 ? [' | '] : []),
      ...readInline(cell.children ?? [], setting),
    ]);
    return { tag: 'p', children };
  }

  /** The rows of a list of facts, whose labels and values stand in a `div` for each row, or without one. */
  function readRows(nodes: readonly Parsed[], setting: Setting): NonNullable<TreeElement['rows']> {
    const rows: NonNullable<TreeElement['rows']> = [];
    for (const node of nodes) {
      if (node.name === 'div') rows.push(...readRows(node.children ?? [], setting));
      else if (node.name === 'dt') rows.push({ label: readInline(node.children ?? [], setting), values: [] });
      else if (node.name === 'dd') {
        if (rows.length === 0) rows.push({ label: [], values: [] });
        const own = settingOf(node, setting);
        const children = readBlocks(node.children ?? [], own);
        rows.at(-1)?.values.push({ tag: 'div', ...marksOf(node.attribs ?? {}), children });
      }
    }
    return rows;
  }

  function readInline(nodes: readonly Parsed[], setting: Setting): TreeNode[] {
    return nodes.flatMap((node): TreeNode[] => {
      if (node.type === 'text') return readText(node.data ?? '', setting);
      if (node.type !== 'tag' || isSkipped(node)) return [];
      if (node.name === 'br') return [{ tag: 'br', children: [] }];
      if (node.name === 'img') return [{ tag: 'logo', alt: convert(node.attribs?.alt ?? ''), children: [] }];
      const children = readInline(node.children ?? [], settingOf(node, setting));
      const tag = inlineTagOf(node);
      if (!tag || setting.inlineDepth >= maxInlineDepth) return children;
      const element = { tag, ...marksOf(node.attribs ?? {}) };
      return isolates.has(element.tag) ? isolateLines(element, children) : [{ ...element, children }];
    });
  }

  function readText(text: string, setting: Setting): TreeNode[] {
    if (!setting.lines) return readLine(text.replaceAll(/[\t\n\f\r ]+/g, ' '), setting);
    return text
      .split(/\r?\n/)
      .flatMap((line, index) => [
        ...(index > 0 ? [{ tag: 'br', children: [] }] : []),
        ...readLine(line.replaceAll('\t', '    '), setting),
      ]);
  }

  /** The pieces of a long word are isolated together, so that they keep their order in any direction. */
  function readLine(line: string, { longest, isLink }: Setting): TreeNode[] {
    return breakLongWords(convert(isLink ? line.replaceAll(softHyphen, '') : line), longest).map((part) =>
      typeof part === 'string'
        ? part
        : { tag: 'bdi', children: part.flatMap((piece) => [piece, { tag: 'wbr', children: [] }]) },
    );
  }

  return (nodes) =>
    readBlocks(nodes, { lines: false, longest: longestWord.text, depth: 0, inlineDepth: 0, isLink: false });
}

/** A line break ends an isolate (Unicode UAX 9, class B), so each line of the element gets one of its own. */
function isolateLines(element: Omit<TreeElement, 'children'>, children: readonly TreeNode[]): TreeNode[] {
  const lines: TreeNode[][] = [[]];
  for (const child of children) {
    if (typeof child === 'object' && child.tag === 'br') lines.push([]);
    else lines.at(-1)?.push(child);
  }
  return lines.flatMap((line, index) => [
    ...(index > 0 ? [{ tag: 'br', children: [] }] : []),
    { ...element, children: line },
  ]);
}

function settingOf(node: Parsed, given: Setting): Setting {
  const { name = '', attribs } = node;
  const classes = classesOf(attribs ?? {});
  const isCode = name === 'pre' || name === 'code';
  const longest = classes.includes('answers') ? longestWord.answers : given.longest;
  return {
    lines: given.lines || name === 'pre' || classes.includes('lines'),
    longest: isCode ? Math.max(longest, longestWord.code) : longest,
    depth: given.depth + (nesting.has(name) ? 1 : 0),
    inlineDepth: given.inlineDepth + (inlineTagOf(node) ? 1 : 0),
    isLink: given.isLink || name === 'a',
  };
}

function markersOf(attributes: Record<string, string>, items: readonly Parsed[]): string[] {
  return listMarkers(
    attributes,
    items.map(({ attribs = {} }) => attribs),
  );
}

function marksOf(attribs: Record<string, string>): Omit<TreeElement, 'tag' | 'children'> {
  const { lang, dir, href, class: classes } = attribs;
  return {
    ...(lang ? { lang } : {}),
    ...(dir ? { dir } : {}),
    ...(href ? { href } : {}),
    ...(classes ? { class: classes } : {}),
  };
}

/** The QR code, which is the only image in a page besides decoration: black on white. */
function readImage({ attribs = {}, children = [] }: Parsed): TreeElement[] {
  const shape = find(children, 'path')?.attribs?.d;
  const frame = attribs.viewbox ?? attribs.viewBox;
  if (!shape || !frame || attribs.role !== 'img') return [];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${frame}" shape-rendering="crispEdges"><rect width="100%" height="100%" fill="#fff"/><path d="${shape}"/></svg>`;
  return [{ tag: 'qr', svg, alt: attribs['aria-label'] ?? '', children: [] }];
}
