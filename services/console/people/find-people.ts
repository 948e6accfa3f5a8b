import type { Context } from 'koa';
import type { RoomTools } from '../pages/tools.ts';

/**
 * Subjects with exactly this e-mail address or telephone number, which is what people say who call; undefined
 * without any, for other words, and for who may not list subjects.
 */
export async function findByContact(
  ctx: Context,
  tools: RoomTools,
  word: string,
  page: { cursor?: string | undefined; limit?: number | undefined },
) {
  if (!saysContact(word) || !tools.may(ctx, 'listSubjects')) return undefined;
  const found = await tools.api(ctx).list('listSubjects', { query: { contact: word }, page });
  return found.rows.length > 0 ? found : undefined;
}

/**
 * The name of the subject that a text means: that with this address or number, else the text.
 * @returns undefined if several subjects have it.
 */
export async function subjectCalled(
  ctx: Context,
  tools: RoomTools,
  text: string,
): Promise<string | undefined> {
  const [one, another] = (await findByContact(ctx, tools, text, { limit: 2 }))?.rows ?? [];
  return another ? undefined : (one?.name ?? text);
}

/** Whether a word may be an e-mail address or a telephone number. */
function saysContact(word: string): boolean {
  return /@|\d{4}/.test(word);
}
