import type { Context } from 'koa';
import { isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import { type Entry, listEntries, questionTypes } from '../../models/read-model.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** A question of this instance in one language, as it is answered on behalf of a person. */
export interface Question {
  /** Name of the answer in the API's answers map. */
  identifier: string;
  name: string;
  /** Words of the question. */
  text: string;
  /** Null for free text. */
  options: readonly string[] | null;
  /** The same in the language of the console, if the words above are in another one. */
  own?: Pick<Question, 'text' | 'options'>;
  isMultiple: boolean;
  /** Whether it is accepted or refused. */
  isDecided: boolean;
  isRequired: boolean;
  /** Whether people may object: `accepted` means no objection. */
  isObjection: boolean;
}

/** ACTIVE questions, and ACTIVE forms, by name. */
export async function listAskable(
  ctx: Context,
  tools: RoomTools,
): Promise<{ forms: Entry[]; elements: Entry[] }> {
  const [forms, elements] = await Promise.all([
    listEntries(tools.api(ctx), { types: 'layout', statuses: 'ACTIVE' }),
    listEntries(tools.api(ctx), { types: questionTypes, statuses: 'ACTIVE' }),
  ]);
  return { forms, elements };
}

/** Keys of the own elements of a form; those of peers are answered by the person alone. */
export async function elementsOfForm(ctx: Context, tools: RoomTools, key: string): Promise<string[]> {
  const content = await readActive(ctx, tools, key);
  const elements = (content?.content.elements ?? []) as string[];
  return elements.filter((each) => !each.includes('@'));
}

/**
 * The ACTIVE versions of elements as questions, in the order of the keys. Those without one are left out, and
 * notices, which have no answer.
 */
export async function readQuestions(
  ctx: Context,
  tools: RoomTools,
  keys: readonly string[],
  language: string,
): Promise<Question[]> {
  const found = await Promise.all(keys.map((key) => readActive(ctx, tools, key, language)));
  return found.flatMap((each) =>
    each &&
    questionTypes.some((type) => type === each.entry.type) &&
    !isNotice(`element/${each.entry.type}/`, each.content)
      ? questionOf(each)
      : [],
  );
}

/**
 * The word of an answer: decisions have words, other answers are the options themselves.
 * @param objection whether it answers a processing to which people may object.
 */
export function answerWord(reader: ConsoleReader, answer: string, objection = false): string {
  const key = `${objection ? 'objection' : 'answer'}.${answer}`;
  return reader.has(key) ? reader.t(key) : answer;
}

/** The words of a record's answers, as a list. */
export function answerWords(reader: ConsoleReader, answers: readonly string[], objection = false): string {
  if (answers.length === 0) return reader.t('record.noAnswer');
  return reader.list(answers.map((each) => answerWord(reader, each, objection)));
}

interface Active {
  entry: Entry;
  serial: string;
  content: Record<string, unknown>;
  /** In the language of the console, if `content` is in another one. */
  own: Record<string, unknown> | undefined;
}

async function readActive(
  ctx: Context,
  tools: RoomTools,
  key: string,
  language = '',
): Promise<Active | undefined> {
  const api = tools.api(ctx);
  const { body: entry } = await api.call('getModelByKey', { params: { key } });
  const active = entry.versions.find(({ status }) => status === 'ACTIVE');
  if (!active) return undefined;
  const { body } = await api.call('getVersion', { params: { id: entry.id, vid: active.id } });
  const inLanguage = (wanted: string) =>
    (body.data[wanted] ?? body.data[body.defaultLanguage] ?? {}) as Active['content'];
  const [content, own] = [inLanguage(language), inLanguage(tools.reader(ctx).language)];
  return { entry, serial: String(body.serial), content, own: own === content ? undefined : own };
}

function questionOf({ entry: { key, type, name }, serial, content, own }: Active): Question {
  const { valueType, optional } = content;
  const wordsOf = ({ title, label, usage, options = [] }: Active['content']) => ({
    text: String(label ?? title ?? usage ?? name),
    options:
      type !== 'preference'
        ? ['accepted', 'refused']
        : valueType === 'FREE_TEXT'
          ? null
          : (options as string[]),
  });
  return {
    identifier: `element/${type}/${key}/${serial}`,
    name,
    ...wordsOf(content),
    ...(own && { own: wordsOf(own) }),
    isDecided: type !== 'preference',
    isMultiple: valueType === 'CHECKBOXES' || valueType === 'LIST_MULTI',
    isRequired: optional !== true,
    isObjection: isObjection(content),
  };
}
