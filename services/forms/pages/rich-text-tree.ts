import { parseDocument } from 'htmlparser2';
import { LRUCache } from 'lru-cache';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { countingAttributes } from '../domain/rich-attributes.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { arrange, inParagraphs } from './rich-structure.ts';

/**
 * Rich text as a tree. Templates escape its texts and attributes like all others: no raw HTML reaches a page.
 */
export type RichNode = { text: string } | RichElement;

export interface RichElement {
  tag: string;
  attributes: Record<string, string>;
  children: RichNode[];
}

/** Tags that pages show as another tag; all others stay as they are. */
const shownAs: Record<string, string> = { b: 'strong', i: 'em', strike: 's', div: 'p' };
const shownTags = new Set([...richTextRules.blocks, ...richTextRules.inline]);
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
 * Parses rich text into trees, cached by source. Only the tags and attributes that this file lists are in a
 * tree, whatever is stored (docs/security.md, "Pages").
 */
export function createRichText(linkTo: LinkTo = safeUrl): RichText {
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
    const tree = withHeadingsFrom(topHeading, parse(html, linkTo));
    trees.set(key, tree);
    return tree;
  };
}

function parse(html: string, linkTo: LinkTo): RichNode[] {
  const { children = [] }: ParsedNode = parseDocument(html);
  if (children.every((node) => node.type === 'text'))
    return plainParagraphs(children.map((node) => node.data ?? '').join(''));
  return inParagraphs(children.flatMap((node) => toRich(node, 0, linkTo)));
}

/** Renumbers headings without gaps, from the level that continues the page's outline (WCAG 1.3.1). */
function withHeadingsFrom(topHeading: number, nodes: RichNode[]): RichNode[] {
  const found = new Set<string>();
  addHeadings(nodes, found);
  if (found.size === 0) return nodes;
  const ranks = [...found].sort();
  const rename = (node: RichNode): RichNode => {
    if (!('tag' in node)) return node;
    const rank = ranks.indexOf(node.tag);
    const tag = rank < 0 ? node.tag : `h${Math.min(6, topHeading + rank)}`;
    return { ...node, tag, children: node.children.map(rename) };
  };
  return nodes.map(rename);
}

function addHeadings(nodes: readonly RichNode[], found: Set<string>): void {
  for (const node of nodes) {
    if (!('tag' in node)) continue;
    if (/^h[1-6]$/.test(node.tag)) found.add(node.tag);
    addHeadings(node.children, found);
  }
}

function toRich(node: ParsedNode, depth: number, linkTo: LinkTo): RichNode[] {
  if (node.type === 'text') return [{ text: node.data ?? '' }];
  if (node.type !== 'tag' || depth > maxDepth) return [];
  const children = (node.children ?? []).flatMap((child) => toRich(child, depth + 1, linkTo));
  const { name = '', attribs = {} } = node;
  if (!shownTags.has(name)) return children;
  // Browsers write quotation marks by themselves, the other formats do not.
  if (name === 'q') return [{ text: '“' }, ...children, { text: '”' }];
  const tag = shownAs[name] ?? name;
  return arrange({ tag, attributes: shownAttributes(tag, attribs, linkTo), children });
}

function shownAttributes(tag: string, given: Record<string, string>, linkTo: LinkTo): Record<string, string> {
  const attributes = countingAttributes(tag, given);
  if (given.lang) attributes.lang = given.lang;
  if (given.dir === 'ltr' || given.dir === 'rtl') attributes.dir = given.dir;
  const href = tag === 'a' ? linkTo(given.href) : null;
  if (href) Object.assign(attributes, { href, target: '_blank', rel: 'noopener noreferrer' });
  return attributes;
}

/** For text without tags: an empty line ends a paragraph, a line break becomes `<br>`. */
function plainParagraphs(text: string): RichNode[] {
  const paragraphs: RichNode[] = [];
  let children: RichNode[] = [];
  for (const line of text.trim().split('\n')) {
    if (line.trim() === '') children = [];
    else {
      if (children.length === 0) paragraphs.push({ tag: 'p', attributes: {}, children });
      else children.push(lineBreak);
      children.push({ text: line });
    }
  }
  return paragraphs;
}

const lineBreak: RichNode = { tag: 'br', attributes: {}, children: [] };
