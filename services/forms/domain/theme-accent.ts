import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';
import { scopeThemeCss, themeRoot } from './theme-css.ts';

const require = createRequire(import.meta.url);

/** A hexadecimal colour, also the light one of `light-dark()`. */
const hexadecimal =
  /^(?:light-dark\(\s*)?#(?:([0-9a-f]{6})(?:[0-9a-f]{2})?|([0-9a-f]{3})[0-9a-f]?)(?![0-9a-z])/i;

/**
 * The accent colour that a theme sets for all pages (`--accord-accent`), for paper. @returns `#rrggbb`;
 * undefined if the theme sets none, or sets it in another notation.
 */
export async function themeAccent(css: string): Promise<string | undefined> {
  if (!css.includes('--accord-accent')) return undefined;
  const accent = known.get(css) ?? (await readAccent(css)) ?? 'none';
  known.set(css, accent);
  return accent === 'none' ? undefined : accent;
}

/** Accents by style sheet, because every receipt on paper needs one. */
const known = new LRUCache<string, string>({ max: 20 });

async function readAccent(css: string): Promise<string | undefined> {
  const { parse, generate } = require('css-tree') as typeof import('css-tree');
  const sheet = parse(await scopeThemeCss(css));
  if (sheet.type !== 'StyleSheet') return undefined;
  const values = sheet.children.toArray().flatMap((rule) => {
    if (rule.type !== 'Rule' || !generate(rule.prelude).split(',').includes(themeRoot)) return [];
    return rule.block.children
      .toArray()
      .flatMap((each) =>
        each.type === 'Declaration' && each.property === '--accord-accent' ? generate(each.value).trim() : [],
      );
  });
  const [, long, short] = hexadecimal.exec(values.at(-1) ?? '') ?? [];
  const digits = long ?? short?.replaceAll(/./g, '$&$&');
  return digits && `#${digits.toLowerCase()}`;
}
