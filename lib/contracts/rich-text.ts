/**
 * What rich text may contain. The forms service removes everything else when a text is stored and when it is
 * shown; the text editor of the console offers nothing else.
 */
export const richTextRules = {
  blocks:
    'p hr h1 h2 h3 h4 h5 h6 ul ol li dl dt dd blockquote pre div table caption thead tbody tfoot tr th td'.split(
      ' ',
    ),
  inline: 'br a strong b em i u ins s del strike sub sup code q span'.split(' '),
  /** Attributes of every element; `a` also has `href`. */
  attributes: ['lang', 'dir'],
  /** Further attributes by element, which say what a clause is called and which cells belong together. */
  attributesOf: {
    ol: ['start', 'type', 'reversed'],
    li: ['value', 'type'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan'],
  } as Record<string, string[]>,
  /** Schemes of links; a link is absolute and has no credentials. */
  schemes: ['http', 'https', 'mailto'],
};

/** The value of `href` that stands for the link of a message; only rich text of mails may have it. */
export const linkPlaceholder = '{link}';
