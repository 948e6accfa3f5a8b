/** The variables of the design that the editor offers as controls: `--accord-accent` and others. */
const controls = ['accent', 'font', 'radius', 'width'] as const;

/** A style sheet as the editor shows it: the controls, and the rest as text. */
type ThemeCss = Partial<Record<(typeof controls)[number] | 'own', string>>;

/** What a theme without an accent colour has: an input for colours is never empty. */
export const defaultAccent = '#0b6b75';

const rootRule = /(?<=^|\})\s*(?::root|\.accord)\s*\{([^{}]*)\}\s*/;
const declaration = (name: string) => new RegExp(`\\s*--accord-${name}\\s*:\\s*([^;]*?)\\s*(;|$)`);

/** Takes the controls out of the first rule for the whole page; an empty rule is taken out, too. */
export function splitCss(css: string): ThemeCss {
  const parts: ThemeCss = {};
  const own = css.replace(rootRule, (rule, block: string) => {
    let rest = block;
    for (const name of controls)
      rest = rest.replace(declaration(name), (_, value: string) => {
        parts[name] = value;
        return '';
      });
    return rest.trim() === '' ? '' : rule.replace(block, rest);
  });
  return { ...parts, ...(own.trim() && { own }) };
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
