import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type FilterSpec, withQuery } from '../pages/filters.ts';
import { type Choice, type FieldSpec, languageChoices, type PostedForm, wordChoices } from '../pages/form.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { Entry } from './read-model.ts';

/** What is shown in a frame, and where. */
interface Previewed {
  /** The page with the frame: its URL has the language, and the orientation. */
  path: string;
  /** The document in the frame. */
  url: string;
  version: Entry['versions'][number];
  /** Of content with several questions: the orientation that is shown unless another is chosen. */
  orientation?: string | undefined;
}

/** What the mixin `+preview` prints: a version in a frame, with the choices of how it is shown. */
export function previewView(ctx: Context, tools: RoomTools, { path, url, version, orientation }: Previewed) {
  const reader = tools.reader(ctx);
  const { t } = reader;
  const { availableLanguages, defaultLanguage } = version;
  const languages: FilterSpec = {
    name: 'language',
    kind: 'choice',
    label: t('preview.language'),
    options: languageChoices(reader, availableLanguages),
  };
  const orientations: FilterSpec = {
    name: 'orientation',
    kind: 'choice',
    label: t('preview.orientation'),
    options: orientationsOf(reader),
  };
  const { values, fields } = tools.filters(ctx, path, orientation ? [languages, orientations] : [languages]);
  const language = lookupLanguage([reader.language], availableLanguages) ?? defaultLanguage;
  const chosen: Record<string, string> = { language, ...(orientation && { orientation }), ...values };
  return {
    chosen,
    path,
    // The choices always have a value: none is "all".
    filters: { isSet: false, fields: fields.map((field) => withChosen(field, chosen[field.name])) },
    frame: { url: withQuery(url, chosen), title: t('preview.frame') },
    looks: previewLooks(ctx, tools, {}),
  };
}

function withChosen<Field extends { options: { value: string }[] }>(field: Field, chosen = '') {
  const options = field.options.map((each) => ({ ...each, selected: each.value === chosen }));
  return { ...field, options };
}

/**
 * Fields of how a preview is shown. The style sheet carries out width and colours; the orientation is sent
 * with the preview. @param typed in an editor, which shows it again.
 */
export function previewLooks(
  ctx: Context,
  tools: RoomTools,
  { hasOrientation = false, typed = {} }: { hasOrientation?: boolean; typed?: PostedForm },
) {
  const reader = tools.reader(ctx);
  const look = (word: string, name: string, options: Choice[]): FieldSpec => ({
    name,
    label: reader.t(`preview.${word}`),
    kind: 'radios',
    options,
  });
  const fields = [
    ...(hasOrientation ? [look('orientation', 'orientation', orientationsOf(reader))] : []),
    look('width', 'preview-width', wordChoices(reader, 'preview', ['wide', 'narrow'])),
    look('colors', 'preview-colors', wordChoices(reader, 'preview', ['light', 'dark'])),
  ];
  const values = fields.map(({ name, options }) => [name, typed[name] ?? options?.[0]?.[0]] as const);
  return tools.form(ctx, { action: '', submit: '', fields, values: Object.fromEntries(values) }).fields;
}

/** The orientations of a form. */
export function orientationsOf(reader: ConsoleReader): Choice[] {
  return wordChoices(reader, 'orientation', ['VERTICAL', 'HORIZONTAL']);
}
