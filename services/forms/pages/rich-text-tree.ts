import { parseDocument } from 'htmlparser2';
import { LRUCache } from 'lru-cache';
import { safeUrl } from '../domain/rich-text.ts';

/**
 * Rich text as a tree. Templates escape its texts and attributes like all others: no raw HTML reaches a page.
 */
export type RichNode =
  | { text: string }
  | { tag: string; attributes: Record<string, string>; children: RichNode[] };

const blocks = new Set('p hr pre blockquote ul ol dl table h1 h2 h3 h4 h5 h6'.split(' '));
const otherTags = 'br strong em u s sub sup code li dl dt dd thead tbody tr th td a span'.split(' ');

/** Tags that pages may show, and the tag that each becomes. */
const shownTags: Record<string, string> = {
  ...Object.fromEntries([...blocks, ...otherTags].map((tag) => [tag, tag])),
  b: 'strong',
  i: 'em',
  div: 'p',
};
const maxDepth = 32;

interface ParsedNode {
  type: string;
  data?: string;
  name?: string;
  attribs?: Record<string, string>;
  children?: ParsedNode[];
}

/** @param topHeading the level of the text's highest heading: one below the heading above the text. */
export type RichText = (html: string | undefined, topHeading?: number) => RichNode[];

/** The URL that a link may have, from its attribute `href`; null: it is shown without one. */
type LinkTo = (href: string | undefined) => string | null;

/**
 * Parses rich text into trees, cached by source. The text is sanitised again (docs/security.md, "Pages"), and
 * only the tags and attributes that this file lists reach a page.
 */
export function createRichText(sanitise: (html: string) => string, linkTo: LinkTo = safeUrl): RichText {
  const trees = new LRUCache<string, RichNode[]>({
    max: 1000,
    maxSize: 16 * 2 ** 20,
    sizeCalculation: (_, key) => key.length,
  });
  return (html, topHeading = 3) => {
    if (!html) return [];
    const key = `${topHeading}${html}`;
    const known = trees.get(key);
    if (known) return known;
    const tree = withHeadingsFrom(topHeading, parse(sanitise(html), linkTo));
    trees.set(key, tree);
    return tree;
  };
}

function parse(html: string, linkTo: LinkTo): RichNode[] {
  const { children = [] } = parseDocument(html) as unknown as ParsedNode;
  if (children.every((node) => node.type === 'text'))
    return plainParagraphs(children.map((node) => node.data ?? '').join(''));
  return paragraphs(children.flatMap((node) => toRich(node, 0, linkTo)));
}

/** Renumbers headings without gaps, from the level that continues the page's outline (WCAG 1.3.1). */
function withHeadingsFrom(topHeading: number, nodes: RichNode[]): RichNode[] {
  const ranks = [...new Set(nodes.flatMap(headingsIn))].sort();
  const rename = (node: RichNode): RichNode => {
    if (!('tag' in node)) return node;
    const rank = ranks.indexOf(node.tag);
    const tag = rank < 0 ? node.tag : `h${Math.min(6, topHeading + rank)}`;
    return { ...node, tag, children: node.children.map(rename) };
  };
  return ranks.length === 0 ? nodes : nodes.map(rename);
}

function headingsIn(node: RichNode): string[] {
  if (!('tag' in node)) return [];
  return [...(/^h[1-6]$/.test(node.tag) ? [node.tag] : []), ...node.children.flatMap(headingsIn)];
}

function toRich(node: ParsedNode, depth: number, linkTo: LinkTo): RichNode[] {
  if (node.type === 'text') return [{ text: node.data ?? '' }];
  if (node.type !== 'tag' || depth > maxDepth) return [];
  const children = (node.children ?? []).flatMap((child) => toRich(child, depth + 1, linkTo));
  const tag = Object.hasOwn(shownTags, node.name ?? '') ? shownTags[node.name ?? ''] : undefined;
  // A paragraph cannot contain a block, a div can.
  if (!tag || (node.name === 'div' && children.some(isBlock))) return children;
  return [{ tag, attributes: shownAttributes(tag, node.attribs ?? {}, linkTo), children }];
}

function shownAttributes(tag: string, given: Record<string, string>, linkTo: LinkTo): Record<string, string> {
  const attributes: Record<string, string> = {};
  if (given.lang) attributes.lang = given.lang;
  if (given.dir === 'ltr' || given.dir === 'rtl') attributes.dir = given.dir;
  const href = tag === 'a' ? linkTo(given.href) : null;
  if (href) Object.assign(attributes, { href, target: '_blank', rel: 'noopener noreferrer' });
  return attributes;
}

/** Wraps text and inline tags outside of blocks in paragraphs. */
function paragraphs(nodes: RichNode[]): RichNode[] {
  const result: RichNode[] = [];
  let open: RichNode[] = [];
  const close = () => {
    if (open.some((node) => 'tag' in node || node.text.trim() !== '')) result.push(paragraph(open));
    open = [];
  };
  for (const node of nodes) {
    if (isBlock(node)) {
      close();
      result.push(node);
    } else open.push(node);
  }
  close();
  return result;
}

/** For text without tags: an empty line ends a paragraph, a line break becomes `<br>`. */
function plainParagraphs(text: string): RichNode[] {
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.trim() !== '')
    .map((part) =>
      paragraph(
        part
          .trim()
          .split('\n')
          .flatMap((line, index) => [...(index > 0 ? [lineBreak] : []), { text: line }]),
      ),
    );
}

const lineBreak: RichNode = { tag: 'br', attributes: {}, children: [] };

function paragraph(children: RichNode[]): RichNode {
  return { tag: 'p', attributes: {}, children };
}

function isBlock(node: RichNode): boolean {
  return 'tag' in node && blocks.has(node.tag);
}
