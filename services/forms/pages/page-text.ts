import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DomNode, FormatCallback, HtmlToTextOptions } from 'html-to-text';
import { removeOverrides } from '#lib/text/direction-controls.ts';
import { listMarkers } from '../domain/list-markers.ts';
import { cellSeparator, raised, strikeMark } from './rich-plain-text.ts';

const require = createRequire(import.meta.url);

const columns = 72;
const indentation = '    ';

/** A heading with a line below it, in the case in which it was written. */
const underlined: FormatCallback = (element, walk, builder, { underline }) => {
  builder.openBlock({ leadingLineBreaks: 2 });
  walk(element.children, builder);
  const draw = (text: string) => `${text}\n${underline.repeat(Math.min(columns, longest(text.split('\n'))))}`;
  builder.closeBlock({ trailingLineBreaks: 2, blockTransform: draw });
};

/** A value below its label. */
const indented: FormatCallback = (element, walk, builder) => {
  builder.openBlock({ leadingLineBreaks: 1, reservedLineLength: indentation.length });
  walk(element.children, builder);
  const indent = (text: string) => text.replaceAll(/^/gm, indentation);
  builder.closeBlock({ trailingLineBreaks: 1, blockTransform: indent });
};

/** A button as its label and its URL, which stands alone on a line so that it can be copied. */
const action: FormatCallback = (element, _walk, builder) => {
  const [link] = element.children;
  builder.openBlock({ leadingLineBreaks: 2 });
  builder.addInline(link?.children?.[0]?.data ?? '');
  builder.addLineBreak();
  builder.addInline(link?.attribs.href ?? '');
  builder.closeBlock({ trailingLineBreaks: 2 });
};

/** A numbered list, with the numbers that browsers show. */
const numbered: FormatCallback = ({ attribs, children, parent }, walk, builder) => {
  const items = children.filter(({ name }) => name === 'li');
  const prefixes = listMarkers(
    attribs,
    items.map((item) => item.attribs),
  ).map((marker) => ` ${marker} `);
  const lineBreaks = parent?.name === 'li' ? 1 : 2;
  const maxPrefixLength = longest(prefixes);
  builder.openList({
    interRowLineBreaks: 1,
    leadingLineBreaks: lineBreaks,
    maxPrefixLength,
    prefixAlign: 'left',
  });
  for (const [index, item] of items.entries()) {
    builder.openListItem({ prefix: prefixes[index] as string });
    walk(item.children, builder);
    builder.closeListItem();
  }
  builder.closeList({ trailingLineBreaks: lineBreaks });
};

/** A row of a table on a line; the layout of mails is tables without rows of data. */
const row: FormatCallback = (element, walk, builder) => {
  if (tableOf(element)?.attribs.role === 'presentation') return walk(element.children, builder);
  const cells = element.children.filter(({ type }) => type === 'tag');
  builder.openBlock({ leadingLineBreaks: 1 });
  for (const [index, cell] of cells.entries()) {
    if (index > 0) builder.addInline(cellSeparator);
    walk(cell.children, builder);
  }
  builder.closeBlock({ trailingLineBreaks: 1 });
};

function tableOf({ parent }: DomNode): DomNode | undefined {
  return !parent || parent.name === 'table' ? parent : tableOf(parent);
}

/** Raised text: numbers are marked as such. */
const raisedText: FormatCallback = (element, walk, builder) => {
  const [only, ...others] = element.children;
  if (only?.data === undefined || others.length > 0) walk(element.children, builder);
  else builder.addInline(raised(only.data));
};

const options: HtmlToTextOptions = {
  wordwrap: columns,
  preserveNewlines: true,
  baseElements: { selectors: ['main'] },
  // Identifiers and addresses must stay whole, so that they can be copied.
  longWordSplit: { forceWrapOnLimit: false },
  formatters: { underlined, indented, numbered, row, raisedText },
  selectors: [
    { selector: 'svg', format: 'skip' },
    { selector: 'form', format: 'skip' },
    { selector: 'button', format: 'skip' },
    { selector: '.qr-hint', format: 'skip' },
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
    { selector: 'h1', format: 'underlined', options: { underline: '=' } },
    { selector: 'h2', format: 'underlined', options: { underline: '-' } },
    ...['h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    // Warnings stand on lines of their own, as on the page.
    { selector: '.flag', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: 'ol', format: 'numbered' },
    { selector: 'tr', format: 'row' },
    { selector: 'caption', format: 'block', options: { trailingLineBreaks: 1 } },
    { selector: 'sup', format: 'raisedText' },
    ...['s', 'del'].map((selector) => ({
      selector,
      format: 'inlineSurround',
      options: { prefix: strikeMark, suffix: strikeMark },
    })),
    { selector: 'dl', format: 'block' },
    { selector: 'dt', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: 'dd', format: 'indented' },
  ],
};

/**
 * Converts the main content of a rendered page to plain text of 72 columns (docs/interface.md, "Receipts").
 * Texts stay in logical order; terminals and screen readers arrange them. Each `article`, an element of a
 * form, is converted by itself, and other requests have their turn in between: a hundred take seconds.
 */
export async function pageText(html: string): Promise<string> {
  const main = html.slice(html.indexOf('<main'), html.lastIndexOf('</main>'));
  const texts: string[] = [];
  for (const [index, part] of main.split(article).entries()) {
    const source = index === 0 ? part : `<main>${article}${part}`;
    texts.push(removeOverrides(withoutOuterBreaks(convert(toText(), source))));
    await nextTurn();
  }
  return `${texts.join(beforeHeading)}\n`;
}

function withoutOuterBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  return text.slice(0, end).replace(/^\n+/, '');
}

/** How an article begins. Templates escape texts, so no text does. */
const article = '<article';

/** An article begins with a heading of the third level, before which html-to-text leaves two empty lines. */
const beforeHeading = '\n\n\n';

/** Compiles on first use, because most processes make no plain text. */
function compileOnce(wanted: HtmlToTextOptions): () => (html: string) => string {
  let compiled: ((html: string) => string) | undefined;
  return () => {
    compiled ??= (require('html-to-text') as typeof import('html-to-text')).compile(wanted);
    return compiled;
  };
}

const toText = compileOnce(options);
const toMailText = compileOnce({
  ...options,
  baseElements: { selectors: ['body'] },
  formatters: { underlined, numbered, row, raisedText, action },
  selectors: [
    { selector: '.spare', format: 'skip' },
    { selector: '.space', format: 'skip' },
    { selector: '.button', format: 'action' },
    ...(options.selectors ?? []),
  ],
});
const controls = /[^\n\P{Cc}]/gu;

/** Converts the HTML of a mail to plain text of 72 columns. */
export function mailText(html: string): string {
  return `${removeOverrides(convert(toMailText(), html))}\n`;
}

/**
 * Characters of one UTF-16 unit and two columns (Unicode UAX 11): East Asian letters and emoji. Other emoji
 * have at least as many units as columns.
 */
const wide =
  /[[\p{Script=Hangul}\p{Script=Han}\p{Emoji_Presentation}\u3001-\u30ff\uff01-\uff60]&&[\0-\uffff]]/gv;

/** The library counts units, so each wide character gets a control character, which is then removed. */
function convert(toPlain: (html: string) => string, html: string): string {
  return toPlain(html.replaceAll(wide, '$&\u0001')).replaceAll(controls, '');
}

function longest(texts: readonly string[]): number {
  return texts.reduce((length, text) => Math.max(length, text.length), 0);
}
