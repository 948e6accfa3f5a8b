import { createRequire } from 'node:module';
import { LRUCache } from 'lru-cache';

const require = createRequire(import.meta.url);

/** The variables of the design that the editor offers as controls: `--accord-accent` and others. */
const controls = ['accent', 'font', 'radius', 'width'] as const;

/** A style sheet as the editor shows it: the controls, and the rest as text. */
type ThemeCss = Partial<Record<(typeof controls)[number] | 'own', string>>;

/** What a theme without an accent colour has: an input for colours is never empty. */
export const defaultAccent = '#0b6b75';

/** Style sheets that are kept as split: a page asks for each control of each language. */
const known = new LRUCache<string, ThemeCss>({ max: 20 });

/** Takes the controls out of the first rule for the whole page; an empty rule is taken out, too. */
export function splitCss(css: string): ThemeCss {
  const split = known.get(css) ?? takeControls(css);
  known.set(css, split);
  return split;
}

function takeControls(css: string): ThemeCss {
  const rule = rootRule(css);
  if (!rule) return css.trim() ? { own: css } : {};
  const parts: ThemeCss = {};
  const kept = rule.declarations.filter((declaration) => {
    const [control, value] = controlOf(declaration);
    if (!control || parts[control] !== undefined) return true;
    parts[control] = value;
    return false;
  });
  const rest = kept.join('');
  const [before, after] = [css.slice(0, rule.start), css.slice(rule.end)];
  const own = rest.trim() ? `${before}${rule.prelude}{${rest}}${after}` : before + after.trimStart();
  return { ...parts, ...(own.trim() && { own }) };
}

/** The control that a declaration sets, and its value. */
function controlOf(declaration: string): [control: (typeof controls)[number] | undefined, value: string] {
  const colon = declaration.indexOf(':');
  const property = declaration.slice(0, colon).trim();
  const value = declaration.slice(colon + 1).replace(';', '');
  return [controls.find((name) => property === `--accord-${name}`), value.trim()];
}

interface RootRule {
  /** Where it stands in the style sheet. */
  start: number;
  end: number;
  prelude: string;
  /** Source text of each with its semicolon, in order. */
  declarations: string[];
}

/**
 * Finds the first rule for `:root` or `.accord` that has no other rule in it. Reads tokens (CSS Syntax
 * Level 3, §4), because the parser's cost grows faster than a text with many faults.
 */
function rootRule(css: string): RootRule | undefined {
  const { tokenize, tokenTypes: kinds } = require('css-tree') as typeof import('css-tree');
  const rules: RootRule[] = [];
  let open: RootRule | undefined;
  let depth = 0;
  /** Where the prelude of the next rule, or the next declaration of the open one, begins. */
  let from = 0;
  tokenize(css, (kind, start, end) => {
    if (kind === kinds.LeftCurlyBracket) {
      const prelude = css.slice(from, start);
      open = depth === 0 && isRoot(prelude) ? { start: from, end, prelude, declarations: [] } : undefined;
      depth += 1;
      from = end;
    } else if (kind === kinds.Semicolon || kind === kinds.RightCurlyBracket) {
      const isEnd = kind === kinds.RightCurlyBracket;
      open?.declarations.push(css.slice(from, isEnd ? start : end));
      from = end;
      if (!isEnd) return;
      depth = Math.max(0, depth - 1);
      if (open) rules.push({ ...open, end });
      open = undefined;
    } else if (depth === 0 && (kind === kinds.Comment || (kind === kinds.WhiteSpace && from === start)))
      from = end;
  });
  return rules[0];
}

function isRoot(prelude: string): boolean {
  return [':root', '.accord'].includes(prelude.trim());
}

/** The style sheet with the controls in a rule of their own; undefined if there is nothing in it. */
export function joinCss({ own = '', ...parts }: ThemeCss): string | undefined {
  const lines = controls.flatMap((name) => (parts[name] ? [`  --accord-${name}: ${parts[name]};\n`] : []));
  const rule = lines.length > 0 ? `:root {\n${lines.join('')}}\n` : '';
  return `${rule}${own}` || undefined;
}

/** Contrast of a hexadecimal colour with white, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrastWithWhite(color: string): number | undefined {
  const digits = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color)?.slice(1);
  if (!digits) return undefined;
  const [red = 0, green = 0, blue = 0] = digits.map((each) => {
    const share = Number.parseInt(each, 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}
