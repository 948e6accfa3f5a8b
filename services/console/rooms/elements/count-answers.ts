import type { Context } from 'koa';
import type { ApiClient } from '../../api/api-client.ts';
import { type FoundElement, isQuestion, questionTypes } from '../../models/read-model.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** How many valid answers a change of an element concerns. */
export interface AnswerCount {
  count: number;
  /** Those of them that decide something, as a processing or conditions do; preferences do not. */
  accepted: number;
  refused: number;
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
  tools: RoomTools,
  { type, key }: FoundElement['entry'],
): Promise<AnswerCount | undefined> {
  const api = tools.api(ctx);
  if (isQuestion(type)) return addUp(api, [[key]]);
  return type === 'information' ? addUp(api, await readQuestionKeys(api), key) : undefined;
}

/** @param groups keys for each call. */
async function addUp(
  api: ApiClient,
  groups: readonly string[][],
  information?: string,
): Promise<AnswerCount> {
  const total = { count: 0, accepted: 0, refused: 0 };
  let atLeast: AnswerCount['atLeast'] = 'no';
  for (const keys of groups) {
    const { body } = await api.call('countValidAnswers', { query: { keys, information } });
    for (const { subjects, accepted = 0, refused = 0 } of body.values) {
      total.count += subjects;
      total.accepted += accepted;
      total.refused += refused;
    }
    if (body.atLeast) atLeast = 'yes';
  }
  return { ...total, atLeast };
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
