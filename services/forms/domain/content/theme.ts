import { checkThemeCss } from '../theme-css.ts';
import { type Field, line, objectOf, oneOf, required } from './fields.ts';

const maxCss = 64 * 1024;

/** A style sheet that may change colours, type and spacing, and nothing else (security.md, "Pages"). */
const css: Field<string> = (value, at, faults) => {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') {
    faults.push({ pointer: at, code: 'invalid', detail: 'must be a text' });
    return undefined;
  }
  if (value.length > maxCss) {
    faults.push({ pointer: at, code: 'too-long', detail: `must have at most ${maxCss} characters` });
    return undefined;
  }
  for (const detail of checkThemeCss(value)) faults.push({ pointer: at, code: 'invalid', detail });
  return value;
};

/** An uploaded image, by the path that its upload answered. */
const logoPath: Field<string> = (value, at, faults) => {
  const given = line(200)(value, at, faults);
  if (given !== undefined && logoIdOf(given) === undefined)
    faults.push({
      pointer: at,
      code: 'invalid',
      detail: 'must be the path of an uploaded logo, /assets/logos/<id>',
    });
  return given;
};

/** The id in `/assets/logos/<id>`. */
export function logoIdOf(path: string): string | undefined {
  return /^\/assets\/logos\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(path)?.[1];
}

export const readTheme = objectOf({
  name: required(line()),
  icon: logoPath,
  css,
  logoPath,
  logoAltText: line(),
  logoPosition: oneOf('LEFT', 'CENTER', 'RIGHT'),
  colorScheme: oneOf('auto', 'light', 'dark'),
});
