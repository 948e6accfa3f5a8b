import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { PageBase, PageTheme } from '#lib/contracts/page-base.ts';
import type { FormPage, PageContent, PageOptions, ShownInformation } from '#lib/contracts/pages.ts';
import { Failure } from '#lib/errors/fail.ts';
import { pageTheme } from '../domain/content-version.ts';
import { isEntryId } from '../domain/identifiers.ts';
import { informationOf } from '../pages/facts.ts';
import type { Drawn } from '../pages/page-model.ts';
import { readActive } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';
import { readForm } from './read-form.ts';

type Base = PageBase & { information: ShownInformation | undefined };

/** Adds to a page what this service knows: the instance, the theme, and the organisation that asks. */
export async function completePage<Content extends Exclude<PageContent, FormPage>>(
  context: FormsContext,
  page: Content,
  { languages, themes = [], colorScheme, here }: PageOptions,
): Promise<Drawn<Content>> {
  const { instance, renderer } = context;
  const language = languages[0] ?? instance.language;
  const layout = 'layout' in page ? page.layout : undefined;
  const shown = informationOf(page);
  const [theme, asked] = await Promise.all([
    findTheme(context, themes, language),
    shown ? undefined : layout && readAsked(context, { layout, languages }),
  ]);
  // The page before a form has the languages of the form; others have those of the product.
  const readable = layout ? asked?.languages : renderer.languages;
  const base: Base = {
    language,
    instance,
    theme,
    ...(colorScheme && { colorScheme }),
    ...(here !== undefined && readable && { offered: { languages: readable, url: here } }),
    information: shown ?? asked?.information,
  };
  return { ...page, ...base };
}

/** The first theme that is ACTIVE; other keys are ignored. */
async function findTheme(
  { db, contents }: FormsContext,
  named: NonNullable<PageOptions['themes']>,
  language: string,
): Promise<PageTheme | null> {
  const keys = named.flatMap((key) => key || []);
  if (keys.length === 0) return null;
  const rows = await readActive(db, { keys, ids: keys.filter(isEntryId) });
  const versions = await contents.get(rows.flatMap(({ version }) => version ?? []));
  for (const named of keys) {
    const row = rows.find(
      ({ key, id, type }) => type === 'theme' && (key === named || id === named.toLowerCase()),
    );
    const version = row?.version ? versions.get(row.version) : undefined;
    if (version) return pageTheme(version, language);
  }
  return null;
}

/**
 * The current information of a layout, and the languages of its form; undefined if the form cannot be shown,
 * as after a withdrawal.
 */
export async function readAsked(
  context: FormsContext,
  { layout, languages }: { layout: PinnedLayout; languages: string[] },
): Promise<{ information: ShownInformation; languages: string[] } | undefined> {
  try {
    const { info, language, languages: complete } = await readForm(context, layout, languages);
    const { content } = info.version.describe(language, info.name);
    return { information: { lang: content.lang, texts: { ...content } }, languages: complete };
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
