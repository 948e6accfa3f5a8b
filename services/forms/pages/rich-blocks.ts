import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Template } from '#lib/pages/load-templates.ts';
import type { RichText } from './rich-text-tree.ts';

/** A rich text as HTML, which is written when it is needed first. */
export class RichBlock {
  readonly #write: () => string;
  #html: string | undefined;

  constructor(write: () => string) {
    this.#write = write;
  }

  /** '' for a text that shows nothing. */
  get html(): string {
    this.#html ??= this.#write();
    return this.#html;
  }
}

/** As {@link RichText}, for pages. */
export type RichBlocks = (html: string | undefined, topHeading?: number) => RichBlock;

const empty = new RichBlock(() => '');

/** Creates the rich texts of pages; their HTML is cached by source. @param template of views/rich.pug. */
export function createRichBlocks(rich: RichText, template: Template): RichBlocks {
  const written = new LRUCache<string, string>({
    max: 1000,
    maxSize: 32 * 2 ** 20,
    sizeCalculation: (html, key) => html.length + key.length,
  });
  return (html, topHeading = 3) => {
    if (!html) return empty;
    const key = `${topHeading}${html}`;
    return new RichBlock(() => {
      const known = written.get(key);
      if (known !== undefined) return known;
      const nodes = rich(html, topHeading);
      // Copied because V8 keeps a text that grew by concatenation as a tree of thousands of pieces, which
      // would be put together in the turn of the page, and again for each page.
      const made = nodes.length > 0 ? Buffer.from(template({ nodes })).toString() : '';
      written.set(key, made);
      return made;
    });
  };
}

/** The longest texts take some 30 ms, short ones a few microseconds each. */
const turnMs = 10;

/**
 * Writes the rich texts of a page; other requests have their turn in between. A form may have a hundred
 * elements with 100,000 characters each.
 */
export async function writeRichBlocks(blocks: readonly RichBlock[]): Promise<void> {
  let start = performance.now();
  for (const block of blocks) {
    if (performance.now() - start > turnMs) {
      await nextTurn();
      start = performance.now();
    }
    void block.html;
  }
}
