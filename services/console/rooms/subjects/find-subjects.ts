import type { Context } from 'koa';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { subjectPath } from '../../people/subject-path.ts';

/**
 * Subjects with this address, which is what people say who call; without any, and for other words, those with
 * a text in their name.
 */
export async function findSubjects(
  ctx: Context,
  kit: RoomKit,
  word: string | undefined,
  page: { cursor?: string | undefined; limit?: number | undefined },
) {
  const api = kit.api(ctx);
  if (word && saysContact(word)) {
    const found = await api.list('listSubjects', { query: { contact: word }, page });
    if (found.rows.length > 0) return found;
  }
  return api.list('listSubjects', { query: { name: word }, page });
}

/** Whether a word may be an e-mail address or a telephone number. */
function saysContact(word: string): boolean {
  return /@|\d{4}/.test(word);
}

/** The form that is to be sent to a person who is chosen or added here: its key. */
export function formIn(ctx: Context): string | undefined {
  return [ctx.query.form].flat()[0] || undefined;
}

/** Where a chosen person leads: to their page, or to the sending of a form. */
export function placeOf(kit: RoomKit, name: string, form: string | undefined): string {
  const path = subjectPath(kit, name);
  return form ? withQuery(`${path}/link`, { form }) : path;
}
