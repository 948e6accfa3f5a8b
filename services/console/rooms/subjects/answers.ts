import type Router from '@koa/router';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { answerWord, listAskable, readQuestions } from './questions.ts';
import { subjectPath } from './subject-path.ts';

type Extracted = components['schemas']['ExtractedSubject'];

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
      options: [
        ['', reader.t('answers.choose')] as const,
        ...elements.map(({ key, name }) => [key, name] as const),
      ],
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
    const read = async (cursor?: string) => {
      if (!question || value === undefined) return { rows: [] };
      const body = { condition: { key, value } };
      const found = await kit.api(ctx).call('extractRecords', { body, query: { cursor } as object });
      return { rows: found.body.values, next: found.body.next };
    };
    const columns = columnsOf(reader, kit);
    if (ctx.query.format === 'csv') return sendCsv(ctx, 'answers', columns, read);
    const cursor = kit.cursor(ctx);
    const caption = reader.t('answers.title');
    const page = await read(cursor);
    await kit.page(ctx, 'answers', {
      title: caption,
      path,
      filters,
      isChosen: question !== undefined,
      table: tableView(reader, { caption, columns, path, filters, cursor, ...page }),
    });
  });
}

function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Extracted>[] {
  const expiry = ({ record }: Extracted) => record.expirationTimestamp;
  return [
    {
      label: reader.t('subjects.name'),
      cell: ({ subjectName }) => ({ text: subjectName, href: subjectPath(kit, subjectName) }),
      csv: ({ subjectName }) => subjectName,
    },
    {
      label: reader.t('answers.answer'),
      cell: ({ record }) => ({ text: record.values.map((each) => answerWord(reader, each)).join(', ') }),
      csv: ({ record }) => record.value,
    },
    {
      label: reader.t('answers.given'),
      cell: ({ record }) => ({ time: reader.time(record.creationTimestamp) }),
      csv: ({ record }) => new Date(record.creationTimestamp).toISOString(),
    },
    {
      label: reader.t('answers.expires'),
      cell: (row) => {
        const at = expiry(row);
        return at ? { time: reader.time(at) } : { text: '–' };
      },
      csv: (row) => {
        const at = expiry(row);
        return at ? new Date(at).toISOString() : '';
      },
    },
  ];
}
