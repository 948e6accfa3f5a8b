import type { Context } from 'koa';
import type { Fault } from '#lib/errors/fail.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { contentOf, type Layout, textNames } from './layout-values.ts';

/** What forbids a form as it stands, by the API: it renders the form, and stores nothing. */
export async function findFaults(ctx: Context, kit: RoomKit, layout: Layout): Promise<Fault[]> {
  try {
    const body = { layoutData: contentOf(layout), language: layout.defaultLanguage };
    await kit.api(ctx).page('previewForm', { body });
    return [];
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.status !== 422) throw error;
    const { errors, code, detail } = error;
    return errors.length > 0 ? placeFaults(errors) : [{ pointer: '/elements', code, detail }];
  }
}

/** A failure whose faults name the fields of the designer. */
export function failureOfDesigner(failure: ApiFailure): ApiFailure {
  const { status, title, detail, members } = failure;
  return new ApiFailure(status, {
    ...members,
    title,
    detail,
    type: typeOf(failure),
    errors: placeFaults(failure.errors),
  });
}

function typeOf({ code }: ApiFailure): string {
  return code && `/docs/problems/${code}`;
}

/**
 * Turns the pointers of a version or a context into names of fields: `/data/en/info` and `/layoutData/info`
 * into `/info`, `/data/en/submitText` into `/submitText-en`. The same fault of another language is left out.
 */
export function placeFaults(faults: readonly Fault[]): Fault[] {
  const placed = faults.map(({ pointer, code, detail }): Fault => {
    const [, language, member = '', rest = ''] =
      /^\/data\/([^/]+)(?:\/([^/]*)(\/.*)?)?$/s.exec(pointer) ?? [];
    const isText = (textNames as readonly string[]).includes(member);
    const inVersion = isText ? `/${member}-${language}` : `/${member}${rest}`;
    const place = language ? inVersion : pointer.replace(/^\/layoutData/, '');
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
