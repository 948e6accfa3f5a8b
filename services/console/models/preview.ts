import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type FilterSpec, withQuery } from '../pages/filters.ts';
import { type Choice, languageChoices, type PostedForm, wordChoices } from '../pages/form.ts';
import type { RoomKit } from '../pages/kit.ts';
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
export function previewView(ctx: Context, kit: RoomKit, { path, url, version, orientation }: Previewed) {
  const reader = kit.reader(ctx);
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
  const { values, fields } = kit.filters(ctx, path, orientation ? [languages, orientations] : [languages]);
  const language = lookupLanguage([reader.language], availableLanguages) ?? defaultLanguage;
  const chosen: Record<string, string> = { language, ...(orientation && { orientation }), ...values };
  return {
    chosen,
    path,
    // The choices always have a value: none is "all".
    filters: { isSet: false, fields: fields.map((field) => withChosen(field, chosen[field.name])) },
    frame: { url: withQuery(url, chosen), title: t('preview.frame') },
    looks: previewLooks(reader),
  };
}

function withChosen<Field extends { options: { value: string }[] }>(field: Field, chosen = '') {
  const options = field.options.map((each) => ({ ...each, selected: each.value === chosen }));
  return { ...field, options };
}

/**
 * The choices that are carried out by the style sheet alone: width and colours. @param typed those of an
 * editor, which are shown again.
 */
export function previewLooks(reader: ConsoleReader, typed: PostedForm = {}) {
  const group = (name: string, label: string, codes: readonly string[]) =>
    radios({ name, label, options: wordChoices(reader, 'preview', codes) }, typed);
  return [
    group('preview-width', reader.t('preview.width'), ['wide', 'narrow']),
    group('preview-colors', reader.t('preview.colors'), ['light', 'dark']),
  ];
}

/** The choice of the orientation in an editor: it is sent with the preview. */
export function orientationLook(reader: ConsoleReader, typed: PostedForm) {
  const label = reader.t('preview.orientation');
  return radios({ name: 'orientation', label, options: orientationsOf(reader) }, typed);
}

/** The orientations of a form. */
export function orientationsOf(reader: ConsoleReader): Choice[] {
  return wordChoices(reader, 'orientation', ['VERTICAL', 'HORIZONTAL']);
}

function radios(
  { name, label, options }: { name: string; label: string; options: Choice[] },
  typed: PostedForm,
) {
  const chosen = typed[name]?.[0] ?? options[0]?.[0];
  return {
    name,
    label,
    options: options.map(([value, word]) => ({ value, word, checked: value === chosen })),
  };
}
