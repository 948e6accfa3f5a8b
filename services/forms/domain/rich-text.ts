import { setImmediate as nextTurn } from 'node:timers/promises';
import sanitizeHtml from 'sanitize-html';
import { linkPlaceholder, richTextRules } from '#lib/contracts/rich-text.ts';
import { countingAttributes } from './rich-attributes.ts';

const { blocks, inline, attributes, attributesOf, schemes } = richTextRules;

/** Two passes suffice for ordinary texts; the limit stops texts crafted to need more. */
const maxPasses = 5;

const optionsWith = (linkTo: (url: string | undefined) => string | null): sanitizeHtml.IOptions => ({
  allowedTags: [...blocks, ...inline],
  allowedAttributes: { '*': [...attributes], ...attributesOf, a: ['href'] },
  allowedSchemes: [...schemes],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nestingLimit: 32,
  transformTags: {
    ...Object.fromEntries(Object.keys(attributesOf).map((tag) => [tag, withCounting])),
    // Relative URLs are removed: they would point to this instance.
    a: (tagName, { href, lang, dir }) => {
      const target = linkTo(href);
      return {
        tagName,
        attribs: { ...(lang && { lang }), ...(dir && { dir }), ...(target && { href: target }) },
      };
    },
  },
});

/** The attributes of a list or a cell. Those that every element may have are checked later. */
function withCounting(tagName: string, { lang, dir, ...given }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
  return {
    tagName,
    attribs: { ...(lang && { lang }), ...(dir && { dir }), ...countingAttributes(tagName, given) },
  };
}

const pageOptions = optionsWith(safeUrl);
const mailOptions = optionsWith(mailUrl);

/**
 * Keeps the allowed tags and attributes of rich text: no script, style, image, class, id or event handler,
 * and only http, https and mailto links. For content that is stored: what is shown passes
 * `pages/rich-text-tree.ts` as well (docs/security.md, "Pages"). Other requests have their turn before each
 * pass, which takes some 30 ms for the longest text.
 */
export const sanitiseRichText = (html: string): Promise<string> => sanitise(html, pageOptions);

/** {@link sanitiseRichText} for mails, in which a link may also be the placeholder `{link}`. */
export const sanitiseMailText = (html: string): Promise<string> => sanitise(html, mailOptions);

async function sanitise(html: string, options: sanitizeHtml.IOptions): Promise<string> {
  let clean = html;
  // Removing a tag can change how the rest is parsed, so repeat until nothing changes.
  for (let pass = 0; pass < maxPasses; pass += 1) {
    await nextTurn();
    const again = sanitizeHtml(clean, options);
    if (again === clean) return clean;
    clean = again;
  }
  return clean;
}

const protocols = new Set<string>(schemes.map((scheme) => `${scheme}:`));

/** The URL if a page may link to it: http, https or mailto, without credentials; else null. */
export function safeUrl(url: string | null | undefined): string | null {
  const parsed = url ? URL.parse(url) : null;
  if (!parsed || !protocols.has(parsed.protocol) || parsed.username !== '' || parsed.password !== '')
    return null;
  return parsed.href;
}

/** {@link safeUrl} for mails, in which the placeholder may stand for a URL. */
export function mailUrl(url: string | null | undefined): string | null {
  return url === linkPlaceholder ? url : safeUrl(url);
}
