import type Router from '@koa/router';
import type { Schemas } from '../../api/api-types.ts';
import { entryChoices } from '../../models/read-model.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { rowsOf, sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';
import { answerWord, answerWords, listAskable, readQuestions } from './questions.ts';
import { subjectPath } from './subject-path.ts';

type Extracted = Schemas['ExtractedSubject'];

/** Who answered what: the people with a valid answer to an element. */
export function answerRoutes(router: Router, kit: RoomKit): void {
  router.get('/answers', async (ctx) => {
    const reader = kit.reader(ctx);
    const path = `${kit.path}/answers`;
    const { elements } = await listAskable(ctx, kit);
    const element = {
      name: 'element',
      kind: 'choice' as const,
      label: reader.t('answers.element'),
      options: [['', reader.t('answers.choose')] as const, ...entryChoices(elements)],
    };
    const { element: key = '' } = kit.filters(ctx, path, [element]).values;
    const [question] = key ? await readQuestions(ctx, kit, [key], reader.language) : [];
    const options = question?.options?.map((each) => [each, answerWord(reader, each)] as const);
    const answer = { name: 'answer', label: reader.t('answers.answer') };
    const filters = kit.filters(ctx, path, [
      element,
      ...(question
        ? [options ? { ...answer, kind: 'choice' as const, options } : { ...answer, kind: 'text' as const }]
        : []),
    ]);
    const value = filters.values.answer ?? options?.[0]?.[0];
    await sendList(ctx, kit, {
      view: 'answers',
      title: reader.t('answers.title'),
      path,
      filters,
      columns: columnsOf(reader, kit),
      async read(cursor, limit) {
        if (!question || value === undefined) return { rows: [] };
        const body = { condition: { key, value } };
        return rowsOf(kit.api(ctx).call('extractRecords', { body, query: { cursor, limit } as object }));
      },
      csv: 'answers',
      locals: { isChosen: question !== undefined },
    });
  });
}

function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Extracted>[] {
  const { text, time } = columnsFor<Extracted>(reader);
  return [
    text('subjects.name', ({ subjectName }) => subjectName, {
      href: ({ subjectName }) => subjectPath(kit, subjectName),
    }),
    {
      label: reader.t('answers.answer'),
      cell: ({ record }) => ({ text: answerWords(reader, record.values) }),
      csv: ({ record }) => record.value,
    },
    time('answers.given', ({ record }) => record.creationTimestamp),
    time('answers.expires', ({ record }) => record.expirationTimestamp),
  ];
}
