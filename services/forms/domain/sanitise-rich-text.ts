import sanitizeHtml from 'sanitize-html';
import { safeUrl } from './safe-url.ts';

const blocks = [
  'p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre', 'div', 'table', 'thead', 'tbody', 'tr', 'th', 'td',
]; // biome-ignore format: one glance
const inline = ['a', 'strong', 'b', 'em', 'i', 'u', 's', 'sub', 'sup', 'code', 'span'];

/** Two have always been enough; texts that are made to need more are not worth more. */
const mostPasses = 5;

const options: sanitizeHtml.IOptions = {
  allowedTags: [...blocks, ...inline],
  allowedAttributes: { '*': ['lang', 'dir'], a: ['href'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nestingLimit: 32,
  transformTags: {
    // A relative address would lead into our own origin, under which a page's link carries no token.
    a: (tagName, { href, lang, dir }) => {
      const target = safeUrl(href);
      return {
        tagName,
        attribs: { ...(lang && { lang }), ...(dir && { dir }), ...(target && { href: target }) },
      };
    },
  },
};

/**
 * Rich text by an allow-list of tags and attributes: no script, style, image, class, id or event handler, links to http,
 * https and mailto alone. Applied when content is saved and again when it is shown (security.md, "Pages").
 */
export function sanitiseRichText(html: string): string {
  let clean = sanitizeHtml(html, options);
  // Taking an element away may leave its content where a parser puts it elsewhere: what is shown must be what was saved.
  for (let pass = 1; pass < mostPasses; pass += 1) {
    const again = sanitizeHtml(clean, options);
    if (again === clean) return clean;
    clean = again;
  }
  return clean;
}
