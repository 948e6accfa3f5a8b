import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CssNode } from 'css-tree';
import { LRUCache } from 'lru-cache';

const require = createRequire(import.meta.url);
/** Loaded on first use, because most processes never read a style sheet. */
const cssTree = () => require('css-tree') as typeof import('css-tree');

/** The element under which a theme applies: the root of every page. */
export const themeRoot = '.accord';

/** Properties that a theme may set: appearance only; no position, page size, visibility or generated text. */
const properties = new Set([
  'color',
  'background',
  'background-color',
  'background-image',
  'accent-color',
  'caret-color',
  'border',
  'border-top',
  'border-right',
  'border-bottom',
  'border-left',
  'border-color',
  'border-style',
  'border-width',
  'border-block',
  'border-inline',
  'border-block-start',
  'border-block-end',
  'border-inline-start',
  'border-inline-end',
  'border-top-color',
  'border-right-color',
  'border-bottom-color',
  'border-left-color',
  'border-radius',
  'border-top-left-radius',
  'border-top-right-radius',
  'border-bottom-left-radius',
  'border-bottom-right-radius',
  'box-shadow',
  'text-shadow',
  'outline',
  'outline-color',
  'outline-style',
  'outline-width',
  'outline-offset',
  'font',
  'font-family',
  'font-size',
  'font-style',
  'font-weight',
  'font-variant',
  'font-stretch',
  'font-feature-settings',
  'letter-spacing',
  'word-spacing',
  'line-height',
  'text-align',
  'text-decoration',
  'text-decoration-color',
  'text-decoration-style',
  'text-decoration-thickness',
  'text-underline-offset',
  'text-transform',
  'text-wrap',
  'hyphens',
  'padding',
  'padding-top',
  'padding-right',
  'padding-bottom',
  'padding-left',
  'padding-block',
  'padding-inline',
  'margin',
  'margin-top',
  'margin-right',
  'margin-bottom',
  'margin-left',
  'margin-block',
  'margin-inline',
  'gap',
  'row-gap',
  'column-gap',
  'max-width',
  'max-inline-size',
  'list-style-type',
  'transition',
  'color-scheme',
]);

const functions = new Set([
  'rgb',
  'rgba',
  'hsl',
  'hsla',
  'hwb',
  'lab',
  'lch',
  'oklab',
  'oklch',
  'color',
  'color-mix',
  'light-dark',
  'var',
  'calc',
  'min',
  'max',
  'clamp',
  'linear-gradient',
  'radial-gradient',
  'conic-gradient',
  'cubic-bezier',
  'steps',
]);

/** Faults by style sheet, because all languages of a theme have the same one. */
const checked = new LRUCache<string, readonly string[]>({ max: 10 });

/** The faults of a theme's style sheet, as sentences without a subject. */
export function checkThemeCss(css: string): readonly string[] {
  const faults = checked.get(css) ?? parseTheme(css).faults;
  checked.set(css, faults);
  return faults;
}

/**
 * The style sheet as it is served: rebuilt from the parsed rules, with every selector under {@link
 * themeRoot}. Forbidden rules are removed here too, although saving refuses them. The longest take 100 ms,
 * with turns of other requests in between.
 */
export async function scopeThemeCss(css: string): Promise<string> {
  const { sheet, faults } = parseTheme(css);
  if (!sheet || faults.length > 0) return '';
  await nextTurn();
  const { generate, walk } = cssTree();
  walk(sheet, {
    visit: 'Rule',
    enter(rule) {
      if (rule.prelude.type !== 'SelectorList') return;
      const scoped = rule.prelude.children.map((selector) => scopeSelector(generate(selector)));
      rule.prelude = { type: 'Raw', value: scoped.toArray().join(',') };
    },
  });
  await nextTurn();
  return generate(sheet);
}

/** `:root`, `html`, `body` and the root's own name mean the root itself. */
function scopeSelector(selector: string): string {
  const rest = selector.replace(/^(:root|html|body|\.accord)(?![\w-])/i, '');
  return rest === selector ? `${themeRoot} ${selector}` : `${themeRoot}${rest}`;
}

function parseTheme(css: string): { sheet: CssNode | undefined; faults: string[] } {
  // The parser and browsers may read escapes differently, so an escape could hide a forbidden name.
  if (css.includes('\\')) return { sheet: undefined, faults: ['must not use backslashes'] };
  if (/<[/!?]/.test(css)) return { sheet: undefined, faults: ['must not contain HTML'] };
  if (depthOf(css) > maxDepth) return { sheet: undefined, faults: ['is nested too deeply'] };
  if (hasTooManyParts(css))
    return { sheet: undefined, faults: [`must have at most ${maxParts} selectors, rules and declarations`] };
  const faults = new Set<string>();
  const { walk } = cssTree();
  const sheet = parseWithFaults(css, (detail) => faults.add(detail));
  if (!sheet) return { sheet, faults: [...faults] };
  walk(sheet, (node) => {
    const fault = faultOf(node);
    if (fault) faults.add(fault);
  });
  return { sheet, faults: [...faults] };
}

/** More take the parser longer than other requests may wait (64 KiB of `a,` took 240 ms). */
const maxParts = 10_000;

/** Counts the characters that divide selectors, rules, declarations and values. */
function hasTooManyParts(css: string): boolean {
  let parts = 0;
  for (const character of css) if (',;{>+~'.includes(character)) parts += 1;
  return parts > maxParts;
}

/** Each fault costs the parser time that grows with the whole text. */
const maxParseFaults = 10;

/** @returns undefined after the maximum number of faults. */
function parseWithFaults(css: string, addFault: (detail: string) => void): CssNode | undefined {
  let faults = 0;
  const tooMany = new Error('too many faults');
  try {
    return cssTree().parse(css, {
      parseCustomProperty: true,
      onParseError({ message }) {
        addFault(`cannot be understood: ${message.slice(0, 120)}`);
        faults += 1;
        if (faults === maxParseFaults) throw tooMany;
      },
    });
  } catch (error) {
    if (error !== tooMany) throw error;
    return undefined;
  }
}

const maxDepth = 20;

/** The nesting depth of brackets: the parser recurses once per level. */
function depthOf(css: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of css.matchAll(/[([{)\]}]/g)) {
    depth = Math.max(0, depth + ('([{'.includes(bracket) ? 1 : -1));
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function faultOf(node: CssNode): string | undefined {
  switch (node.type) {
    case 'Url':
      return 'must not use url()';
    case 'Atrule':
      return node.name.toLowerCase() === 'media' ? undefined : `must not use @${node.name.slice(0, 40)}`;
    case 'Function': {
      const name = node.name.toLowerCase();
      if (name === 'url') return 'must not use url()';
      return functions.has(name) ? undefined : `must not use ${name.slice(0, 40)}()`;
    }
    case 'Declaration':
      return isAllowed(node.property) ? undefined : `must not set ${node.property.slice(0, 60)}`;
    case 'NestingSelector':
      return 'must not nest rules';
    case 'Raw':
    case 'CDO':
    case 'CDC':
      return 'has something that cannot be understood';
    default:
      return undefined;
  }
}

/** Allowed custom properties: the design's own, `--accord-…`, and those that the theme itself reads. */
function isAllowed(property: string): boolean {
  return property.startsWith('--') || properties.has(property.toLowerCase());
}
