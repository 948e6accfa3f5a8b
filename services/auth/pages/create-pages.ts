import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Context } from 'koa';
import { acceptedLanguages, lookupLanguage } from '#lib/i18n/match-language.ts';
import { loadTemplates } from '#lib/pages/load-templates.ts';

/** The pages of the built-in issuer. */
export interface Pages {
  /** Renders a page in the reader's language; values of `text` and of faults are keys of the catalogues. */
  render(ctx: Context, page: PageName, view: object): string;
  stylesheet: { path: string; body: string };
}

export type PageName = 'sign-in' | 'setup' | 'done' | 'error';

type Catalogue = Record<string, string>;

const names: readonly PageName[] = ['sign-in', 'setup', 'done', 'error'];
const rightToLeft = new Set(['ar', 'fa', 'he', 'ur']);

/** Reads catalogues, styles and templates once. */
export function createPages({
  issuerPath,
  instanceName,
  defaultLanguage,
}: {
  issuerPath: string;
  instanceName: string;
  defaultLanguage: string;
}): Pages {
  const templates = loadTemplates(new URL('../views/', import.meta.url), names);
  const catalogues = readCatalogues();
  const languages = [...catalogues.keys()];
  const stylesheet = readStylesheet(issuerPath);
  return {
    stylesheet,
    render(ctx, page, view) {
      const wanted = [
        String(ctx.query.ui_locales ?? ''),
        ...acceptedLanguages(ctx.get('accept-language')),
        defaultLanguage,
      ];
      const language = lookupLanguage(wanted, languages) ?? 'en';
      const words = catalogues.get(language) as Catalogue;
      const t = (key: string, values: Record<string, string> = {}) =>
        Object.entries(values).reduce(
          (text, [name, value]) => text.replaceAll(`{${name}}`, value),
          words[key] ?? key,
        );
      const dir = rightToLeft.has(language) ? 'rtl' : 'ltr';
      return templates[page]({ ...view, t, language, dir, instanceName, stylesheet: stylesheet.path });
    },
  };
}

function readCatalogues(): Map<string, Catalogue> {
  const folder = new URL('../locales/', import.meta.url);
  return new Map(
    readdirSync(folder).map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Catalogue,
    ]),
  );
}

function readStylesheet(issuerPath: string): { path: string; body: string } {
  const body = readFileSync(new URL('../assets/sign-in.css', import.meta.url), 'utf8');
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { path: `${issuerPath}/assets/sign-in.${hash}.css`, body };
}
