import { parseDocument } from 'htmlparser2';
import { breakLongWords } from './printable-text.ts';

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

interface Parsed {
  type: string;
  name?: string;
  data?: string;
  attribs?: Record<string, string>;
  children?: Parsed[];
}

/** Converts the text of a node, e.g. replaces characters that fonts do not have. */
type ConvertText = (text: string) => string;

/**
 * Converts a rendered page to a tree of the elements that are printed. A PDF therefore has the same facts as
 * the page, and the typesetter never reads a text as markup.
 */
export function readPageTree(html: string, convert: ConvertText): PageTree {
  const { children = [] } = parseDocument(html) as unknown as Parsed;
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

const groups = new Set('div section article header'.split(' '));
const headings = new Set('h1 h2 h3 h4 h5 h6'.split(' '));
const containers = new Set('ul ol li blockquote table thead tbody tr th td'.split(' '));
const inlineTags = new Set('a strong em u s sub sup code span bdi'.split(' '));
/** Those whose text does not change the order of its surroundings (receipt.typ). */
const isolates = new Set(['bdi', 'code']);
const blocks = new Set([...groups, ...headings, ...containers, ...'p pre dl dt dd hr svg'.split(' ')]);
const skipped = new Set('form button nav script style'.split(' '));

interface Setting {
  /** Whether line breaks in texts are shown. */
  lines: boolean;
  /** Number of letters that certainly fit in a line. */
  longest: number;
}

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
    if (name === 'dl') return [{ tag: 'facts', ...marks, rows: readRows(children, setting), children: [] }];
    if (isFlag(node)) return [{ tag: 'p', ...marks, children: readInline([node], setting) }];
    if (name === 'p' || name === 'pre' || headings.has(name))
      return [{ tag: name, ...marks, children: readInline(children, setting) }];
    return [{ tag: groups.has(name) ? 'div' : name, ...marks, children: readBlocks(children, setting) }];
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
      if (!inlineTags.has(node.name ?? '')) return children;
      const element = { tag: node.name as string, ...marksOf(node.attribs ?? {}) };
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
  function readLine(line: string, { longest }: Setting): TreeNode[] {
    return breakLongWords(convert(line), longest).map((part) =>
      typeof part === 'string'
        ? part
        : { tag: 'bdi', children: part.flatMap((piece) => [piece, { tag: 'wbr', children: [] }]) },
    );
  }

  return (nodes) => readBlocks(nodes, { lines: false, longest: longestWord.text });
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

function settingOf({ name, attribs }: Parsed, given: Setting): Setting {
  const classes = classesOf(attribs ?? {});
  const isCode = name === 'pre' || name === 'code';
  const longest = classes.includes('answers') ? longestWord.answers : given.longest;
  return {
    lines: given.lines || name === 'pre' || classes.includes('lines'),
    longest: isCode ? longestWord.code : longest,
  };
}

function isBlock(node: Parsed): boolean {
  return node.type === 'tag' && (blocks.has(node.name ?? '') || isFlag(node));
}

/** A warning, which has a line of its own on the page too. */
function isFlag({ attribs = {} }: Parsed): boolean {
  return classesOf(attribs).includes('flag');
}

function isSkipped({ name = '', attribs = {} }: Parsed): boolean {
  return skipped.has(name) || classesOf(attribs).includes('no-print');
}

function classesOf(attribs: Record<string, string>): string[] {
  return attribs.class?.split(' ') ?? [];
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

function find(nodes: readonly Parsed[], name: string): Parsed | undefined {
  for (const node of nodes) {
    const found = node.name === name ? node : find(node.children ?? [], name);
    if (found) return found;
  }
  return undefined;
}

function textOf(node: Parsed | undefined): string {
  if (!node) return '';
  return node.data ?? (node.children ?? []).map(textOf).join('');
}
