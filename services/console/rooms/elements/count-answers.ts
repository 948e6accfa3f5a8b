import type { Context } from 'koa';
import type { ApiClient } from '../../api/api-client.ts';
import { type FoundElement, isQuestion, questionTypes } from '../../models/read-model.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** How many valid answers a change of an element concerns. */
export interface AnswerCount {
  count: number;
  /** `yes` if the API has stopped counting: there may be more. */
  atLeast: 'yes' | 'no';
}

/** Keys in one call of GET /stats/valid. */
const maxKeys = 200;

/**
 * Counts the valid answers to a question, or those that were given under an information.
 * @returns undefined for an element without answers: a theme or a mail.
 */
export async function countAnswers(
  ctx: Context,
  kit: RoomKit,
  { type, key }: FoundElement['entry'],
): Promise<AnswerCount | undefined> {
  const api = kit.api(ctx);
  if (isQuestion(type)) return addUp(api, [[key]]);
  return type === 'information' ? addUp(api, await readQuestionKeys(api), key) : undefined;
}

/** @param groups keys for each call. */
async function addUp(
  api: ApiClient,
  groups: readonly string[][],
  information?: string,
): Promise<AnswerCount> {
  let count = 0;
  let atLeast: AnswerCount['atLeast'] = 'no';
  for (const keys of groups) {
    const { body } = await api.call('countValidAnswers', { query: { keys, information } });
    for (const { subjects } of body.values) count += subjects;
    if (body.atLeast) atLeast = 'yes';
  }
  return { count, atLeast };
}

/** Keys of all ACTIVE questions; answers to others are not valid. */
async function readQuestionKeys(api: ApiClient): Promise<string[][]> {
  const groups: string[][] = [];
  for (let cursor: string | undefined; ; ) {
    const query = { types: [...questionTypes], statuses: ['ACTIVE'], size: maxKeys, cursor };
    const { rows, next } = await api.list('listModels', { query });
    if (rows.length > 0) groups.push(rows.map(({ key }) => key));
    if (!next) return groups;
    cursor = next;
  }
}
