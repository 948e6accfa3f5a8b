import type { Context } from 'koa';

/** How a person wants the pages; kept in the browser. */
export interface Preferences {
  /** Language tag; empty: as the browser asks. */
  language: string;
  /** light or dark; empty: as the browser asks. */
  colors: string;
}

const name = 'accord_console_looks';
/** Other hosts of the domain may set it, but only over TLS. */
const secureName = `__Secure-${name}`;
const yearSeconds = 365 * 24 * 60 * 60;

/** The language that the person has chosen. */
export function languageOf(ctx: Context): string | undefined {
  return /^[a-z]{2}$/.exec(read(ctx)[0])?.[0];
}

/** The colour scheme that the person has chosen. */
export function colorsOf(ctx: Context): 'light' | 'dark' | undefined {
  const [, colors] = read(ctx);
  return colors === 'light' || colors === 'dark' ? colors : undefined;
}

/** Keeps the preferences in the browser for a year. Values that pages do not know count as empty. */
export function savePreferences(ctx: Context, { language, colors }: Preferences, baseUrl: string): void {
  const value = `${language.replaceAll(/\W/g, '')}.${colors.replaceAll(/\W/g, '')}`;
  const isSecure = baseUrl.startsWith('https:');
  const flags = `Path=/console; Max-Age=${yearSeconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  ctx.append('Set-Cookie', `${isSecure ? secureName : name}=${value}; ${flags}`);
}

function read(ctx: Context): [language: string, colors: string] {
  const pair = ctx
    .get('cookie')
    .split(/;\s*/)
    .find((each) => each.startsWith(`${name}=`) || each.startsWith(`${secureName}=`));
  const [language = '', colors = ''] = (pair?.split('=')[1] ?? '').split('.');
  return [language, colors];
}
