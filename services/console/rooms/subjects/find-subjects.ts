import type { Context } from 'koa';
import { withQuery } from '../../pages/filters.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { findByContact } from '../../people/find-people.ts';
import { subjectPath } from '../../people/subject-path.ts';

/** Subjects with this address or number; without any, and for other words, those with it in their name. */
export async function findSubjects(
  ctx: Context,
  tools: RoomTools,
  word: string | undefined,
  page: { cursor?: string | undefined; limit?: number | undefined },
) {
  const found = word && (await findByContact(ctx, tools, word, page));
  return found || tools.api(ctx).list('listSubjects', { query: { name: word }, page });
}

/** The form that is to be sent to a person who is chosen or added here: its key. */
export function formIn(ctx: Context): string | undefined {
  return [ctx.query.form].flat()[0] || undefined;
}

/** Where a chosen person leads: to their page, or to the sending of a form. */
export function placeOf(tools: RoomTools, name: string, form: string | undefined): string {
  const path = subjectPath(tools, name);
  return form ? withQuery(`${path}/link`, { form }) : path;
}
