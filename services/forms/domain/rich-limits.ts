import { Parser } from 'htmlparser2';
import { richTextRules } from '#lib/contracts/rich-text.ts';
import { numberOutOfRange } from './rich-attributes.ts';

/** Of one text, also counted as it is shown; a page takes about a microsecond for each. */
const maxTags = 5_000;

const blocks = new Set(richTextRules.blocks);
const inline = new Set(richTextRules.inline);

/** What is wrong with a rich text. */
export interface RichFault {
  code: 'too-long' | 'invalid';
  detail: string;
}

const tooManyLines: RichFault = { code: 'too-long', detail: `must have at most ${maxTags} lines` };
const tooManyTags: RichFault = { code: 'too-long', detail: `must have at most ${maxTags} tags` };

/**
 * Finds what a rich text may not have, before it is sanitised: numbers that are out of range, and more tags
 * than can be sanitised and shown in a short time. An inline element counts again for each block in it,
 * because pages show it in each of them (`pages/rich-structure.ts`): 30 around 2,000 paragraphs are 60,000.
 */
export function findRichFault(html: string): RichFault | undefined {
  let tags = count(html, '<');
  // Pages show the line breaks of a text without tags as elements.
  if (tags === 0) return count(html, '\n') > maxTags ? tooManyLines : undefined;
  if (tags > maxTags) return tooManyTags;
  let number: string | undefined;
  let around = 0;
  const parser = new Parser({
    onopentag(tag, attributes) {
      number ??= numberOutOfRange(tag, attributes);
      if (blocks.has(tag)) tags += around;
      else if (inline.has(tag)) around += 1;
    },
    onclosetag(tag) {
      if (inline.has(tag)) around -= 1;
    },
  });
  parser.end(html);
  if (tags > maxTags) return tooManyTags;
  return number === undefined ? undefined : { code: 'invalid', detail: number };
}

/** Counts a character, at most one more than is allowed: `<` begins start and end tags, and comments. */
function count(html: string, character: string): number {
  let found = 0;
  for (let at = html.indexOf(character); at >= 0 && found <= maxTags; at = html.indexOf(character, at + 1))
    found += 1;
  return found;
}
