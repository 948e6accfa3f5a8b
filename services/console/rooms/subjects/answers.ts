import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { entryChoices } from '../../models/read-model.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { subjectPath } from '../../people/subject-path.ts';
import { givenColumn, answerOf as wordsOf } from './consents.ts';
import { answerWord, listAskable, readQuestions } from './questions.ts';

type Extracted = Schemas['ExtractedSubject'];

/** Who answered what: the people with a valid answer to an element. */
export function answerRoutes(router: Router, tools: RoomTools): void {
  router.get('/answers', async (ctx) => {
    const reader = tools.reader(ctx);
    const path = `${tools.path}/answers`;
    const { elements } = await listAskable(ctx, tools);
    const element = {
      name: 'element',
      kind: 'choice' as const,
      label: reader.t('answers.element'),
      options: [['', reader.t('answers.choose')] as const, ...entryChoices(elements)],
    };
    const filters = tools.filters(ctx, path, [element, { name: 'a', kind: 'hidden' }]);
    const { element: key = '' } = filters.values;
    const [question] = key ? await readQuestions(ctx, tools, [key], reader.language) : [];
    const counts = question?.isDecided ? await countDecisions(ctx, tools, key) : {};
    const value = answerOf(tools.names.open(filters.values.a), key) ?? question?.options?.[0];
    await sendList(ctx, tools, {
      view: 'answers',
      title: reader.t('answers.title'),
      path,
      filters,
      columns: columnsOf(reader, tools, question?.isObjection ?? false),
      async read(cursor, limit) {
        if (!question || value === undefined) return { rows: [] };
        const body = { condition: { key, value } };
        return tools.api(ctx).list('extractRecords', { body, page: { cursor, limit } });
      },
      csv: 'answers',
      noMatch: reader.t('answers.none'),
      locals: {
        isChosen: value !== undefined,
        alternatives: question?.options?.map((each) => ({
          word: withCount(reader, answerWord(reader, each, question.isObjection), counts[each]),
          href: pageOf(tools, key, each),
          isCurrent: each === value,
        })),
        freeText:
          question &&
          !question.options &&
          tools.form(ctx, {
            action: path,
            submit: reader.t('answers.show'),
            fields: [{ name: 'answer', label: reader.t('answers.answer'), isRequired: true }],
            values: { answer: value },
            hidden: { element: key },
          }),
      },
    });
  });

  // An answer may be a text that says something about a person: it is sent as a form, and sealed in the URL.
  router.post('/answers', (ctx) => {
    const { element: [key = ''] = [], answer: [answer = ''] = [] } = tools.posted(ctx);
    tools.open(ctx, pageOf(tools, key, answer));
  });
}

/** How many people have each decision; the API counts no other answers by their value. */
async function countDecisions(ctx: Context, tools: RoomTools, key: string): Promise<Record<string, number>> {
  const counted = await tools
    .api(ctx)
    .call('countValidAnswers', { query: { keys: [key] } })
    .catch(ignoreFailure);
  const found = counted?.body.values.find((each) => each.key === key);
  if (!counted || counted.body.atLeast) return {};
  return { accepted: found?.accepted ?? 0, refused: found?.refused ?? 0 };
}

function withCount(reader: ConsoleReader, word: string, count: number | undefined): string {
  return count === undefined
    ? word
    : reader.t('answers.counted', { answer: word, count: reader.number(count) });
}

/** The links of the page do without counts. @throws errors that the API did not answer. */
function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof ApiFailure)) throw error;
}

/** The page of the people who gave an answer. */
function pageOf(tools: RoomTools, key: string, answer: string): string {
  const a = answer && tools.names.seal(`${key}\n${answer}`);
  return withQuery(`${tools.path}/answers`, { element: key, a });
}

/** The answer that was sealed with the key of its element; undefined for an answer to another one. */
function answerOf(sealed: string | undefined, key: string): string | undefined {
  return sealed?.startsWith(`${key}\n`) ? sealed.slice(key.length + 1) : undefined;
}

function columnsOf(reader: ConsoleReader, tools: RoomTools, isObjection: boolean): Column<Extracted>[] {
  const { text, time } = columnsFor<Extracted>(reader);
  const { cell, csv, ...given } = givenColumn(reader, 'answers.given');
  return [
    text('subjects.name', ({ subjectName }) => subjectName, {
      href: ({ subjectName }) => subjectPath(tools, subjectName),
    }),
    {
      label: reader.t('answers.answer'),
      cell: ({ record }) => ({
        text: wordsOf(reader, isObjection ? { ...record, basis: 'OBJECTION' } : record),
      }),
      // Options have no line breaks, but may have commas.
      csv: ({ record }) => record.values.join('\n'),
    },
    {
      ...given,
      cell: ({ record }) => cell(record),
      ...(csv && { csv: ({ record }: Extracted) => csv(record) }),
    },
    time('answers.expires', ({ record }) => record.expirationTimestamp),
  ];
}
