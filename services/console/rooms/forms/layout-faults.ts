import type { Context } from 'koa';
import type { Fault } from '#lib/errors/fail.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { contentOf, type Layout, textNames } from './layout-values.ts';

/** A version of a form, whose preview shows a layout in its place. */
export interface PreviewedForm {
  id: string;
  /** Undefined for a form without a version. */
  vid: string | undefined;
}

/**
 * The page of a layout as people would see it; nothing is stored.
 * @throws ApiFailure 422 if it cannot be shown.
 */
export async function renderLayout(
  ctx: Context,
  tools: RoomTools,
  { id, vid = '' }: PreviewedForm,
  { layout, language, orientation }: { layout: Layout; language: string; orientation?: string | undefined },
): Promise<string> {
  const data = { ...contentOf(layout, language), ...(orientation && { orientation }) };
  try {
    return await tools.api(ctx).page('previewVersion', { params: { id, vid }, body: { language, data } });
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    // The content that was sent is that of one language.
    throw failureOfDesigner(error, (pointer) => pointer.replace(/^\/data\//, `/data/${language}/`));
  }
}

/** What forbids a form as it stands, by the API: it renders the form, and stores nothing. */
export async function findFaults(
  ctx: Context,
  tools: RoomTools,
  form: PreviewedForm,
  layout: Layout,
): Promise<Fault[]> {
  if (form.vid === undefined || layout.elements.length === 0) return [];
  try {
    await renderLayout(ctx, tools, form, { layout, language: layout.defaultLanguage });
    return [];
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 422) throw error;
    const { errors, code, detail } = error;
    return errors.length > 0 ? [...errors] : [{ pointer: '/elements', code, detail }];
  }
}

/** A failure whose faults name the fields of the designer. @param move makes pointers those of a version. */
export function failureOfDesigner(failure: ApiFailure, move = (pointer: string) => pointer): ApiFailure {
  const { status, title, detail, members } = failure;
  return new ApiFailure(status, {
    ...members,
    title,
    detail,
    type: typeOf(failure),
    errors: placeFaults(failure.errors.map((fault) => ({ ...fault, pointer: move(fault.pointer) }))),
  });
}

function typeOf({ code }: ApiFailure): string {
  return code && `/docs/problems/${code}`;
}

/**
 * Turns the pointers of a version into names of fields: `/data/en/info` into `/info`, `/data/en/submitText`
 * into `/submitText-en`. The same fault of another language is left out.
 */
function placeFaults(faults: readonly Fault[]): Fault[] {
  const placed = faults.map(({ pointer, code, detail }): Fault => {
    const [, language, member = '', rest = ''] =
      /^\/data\/([^/]+)(?:\/([^/]*)(\/.*)?)?$/s.exec(pointer) ?? [];
    const isText = (textNames as readonly string[]).includes(member);
    const inVersion = isText ? `/${member}-${language}` : `/${member}${rest}`;
    const place = language ? inVersion : pointer;
    return { pointer: place, code: codeOf(place, code), detail };
  });
  const first = new Map<string, Fault>();
  for (const fault of placed) {
    const name = `${fault.code} ${fault.pointer}`;
    if (!first.has(name)) first.set(name, fault);
  }
  return [...first.values()];
}

/** A missing element or information has words of its own. */
function codeOf(pointer: string, code: string): string {
  if (code === 'required' && pointer === '/elements') return 'no-element';
  return code === 'required' && pointer === '/info' ? 'no-information' : code;
}
