import type { MessageContent } from '#lib/contracts/messages.ts';
import { linkPlaceholder } from '#lib/contracts/rich-text.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { removeDirectionControls } from '#lib/text/direction-controls.ts';
import { plainText } from './rich-plain-text.ts';
import type { RichNode } from './rich-text-tree.ts';

type Name = 'link' | 'code' | 'minutes' | 'organisation';

const placeholder = /\{(link|code|minutes|organisation)\}/;

/** Replaces the placeholders of `email` models (docs/interface.md, "Models"). Other braces are text. */
export interface Placeholders {
  /** Fills in the placeholders of one line. */
  line(text: string): string;
  /** Fills in rich text, and reduces its links to those that a mail may have. */
  rich(nodes: readonly RichNode[]): RichNode[];
  /** The placeholders that were filled in so far. */
  filled: ReadonlySet<Name>;
}

/** @param organisation safe to show ({@link inlineText}). */
export function createPlaceholders(
  { link, code, minutes, instance }: MessageContent,
  organisation: string,
  { dir }: Pick<Reader, 'dir'>,
): Placeholders {
  const values: Record<Name, string> = {
    link: link ?? '',
    code: code ?? '',
    minutes: minutes === null ? '' : String(minutes),
    organisation: dir === 'rtl' ? `\u2068${organisation}\u2069` : organisation,
  };

  const filled = new Set<Name>();
  const fillIn = (name: Name) => {
    filled.add(name);
    return values[name];
  };

  function fillText(text: string): RichNode[] {
    // The odd members are the captured names.
    return text.split(placeholder).flatMap((part, index): RichNode[] => {
      const name = index % 2 === 1 ? (part as Name) : null;
      const value = name ? fillIn(name) : part;
      if (value === '') return [];
      // An address has no isolating characters around it, because mail clients would make them part of it.
      return [name === 'link' ? tagged('span', { dir: 'ltr' }, [{ text: value }]) : { text: value }];
    });
  }

  function fill(node: RichNode): RichNode[] {
    if (!('tag' in node)) return fillText(node.text);
    const children = node.children.flatMap(fill);
    return [node.tag === 'a' ? linkOf(node.attributes, children) : { ...node, children }];
  }

  function linkOf({ href = '', ...attributes }: Record<string, string>, children: RichNode[]): RichNode {
    const url = href === linkPlaceholder ? values.link : href;
    if (url.startsWith('https://') || isOwnUrl(url, instance.baseUrl))
      return tagged('a', { ...attributes, href: url }, children);
    const address = /^mailto:/i.test(url) ? (url.slice('mailto:'.length).split('?', 1)[0] ?? '') : url;
    const isShown = address === '' || plainText(children).includes(address);
    return tagged(
      'span',
      pickLanguage(attributes),
      isShown ? children : [...children, { text: ` (${address})` }],
    );
  }

  return {
    line: (text) =>
      removeDirectionControls(text)
        .split(placeholder)
        .map((part, index) => (index % 2 === 1 ? fillIn(part as Name) : part))
        .join(''),
    rich: (nodes) => nodes.flatMap(fill),
    filled,
  };
}

/** Whether a URL is one of this instance. */
export function isOwnUrl(url: string, baseUrl: string): boolean {
  const parsed = URL.parse(url);
  const base = new URL(`${baseUrl}/`);
  return parsed?.origin === base.origin && parsed.pathname.startsWith(base.pathname);
}

function tagged(tag: string, attributes: Record<string, string>, children: RichNode[]): RichNode {
  return { tag, attributes, children };
}

function pickLanguage({ lang, dir }: Record<string, string>): Record<string, string> {
  return { ...(lang && { lang }), ...(dir && { dir }) };
}

/**
 * A value for a line of a message, without line breaks, control characters and the bidirectional controls
 * that would reorder the text around it.
 * @param maxLength in code points; a longer text is cut.
 */
export function inlineText(text: string, maxLength: number): string {
  const clean = removeDirectionControls(text.toWellFormed())
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  const characters = [...clean];
  return characters.length > maxLength
    ? `${characters
        .slice(0, maxLength - 1)
        .join('')
        .trim()}…`
    : clean;
}
