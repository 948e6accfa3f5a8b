import type { ApiClient } from '../../api/api-client.ts';
import { listEntries, questionTypes } from '../../models/read-model.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { elementColumn } from './figures.ts';

/** How many answers to an element are valid, and how many of them expire soon. */
export interface ExpiringCount {
  key: string;
  name: string;
  valid: number;
  expiring: number;
}

const within = 'P30D';

/** The elements with answers that expire soon, most first. */
export async function readExpiring(
  api: ApiClient,
): Promise<{ elements: ExpiringCount[]; isAtLeast: boolean }> {
  const questions = await listEntries(api, { types: questionTypes, statuses: 'ACTIVE' });
  if (questions.length === 0) return { elements: [], isAtLeast: false };
  const keys = questions.map(({ key }) => key);
  const { body } = await api.call('countValidAnswers', { query: { keys, within } });
  const names = new Map(questions.map(({ key, name }) => [key, name]));
  const elements = body.values
    .filter(({ expiring }) => expiring > 0)
    .sort((a, b) => b.expiring - a.expiring)
    .map(({ key, subjects, expiring }) => ({ key, name: names.get(key) ?? key, valid: subjects, expiring }));
  return { elements, isAtLeast: body.atLeast };
}

/** @param mayAsk whether the person may have people asked again. */
export function expiringColumns(reader: ConsoleReader, mayAsk: boolean): Column<ExpiringCount>[] {
  const { number, link } = columnsFor<ExpiringCount>(reader);
  return [
    elementColumn(reader),
    number('home.expiring', ({ expiring }) => expiring),
    number('home.valid', ({ valid }) => valid),
    ...(mayAsk
      ? [
          link('home.again', 'home.againLink', ({ key }) =>
            withQuery('/console/campaigns/new', { element: key, who: 'EXPIRING' }),
          ),
        ]
      : []),
  ];
}

/** What the panel of answers that expire soon shows. */
export function expiringFigures(
  reader: ConsoleReader,
  { elements, isAtLeast }: Awaited<ReturnType<typeof readExpiring>>,
  { path, mayAsk }: { path: string; mayAsk: boolean },
) {
  const count = elements.reduce((sum, { expiring }) => sum + expiring, 0);
  return {
    sentence: reader.t(isAtLeast ? 'home.expiringAtLeast' : 'home.expiringText', { count }),
    table: tableView(reader, {
      caption: reader.t('home.expiringTitle'),
      columns: expiringColumns(reader, mayAsk),
      rows: elements,
      path,
      csv: 'expiring',
    }),
  };
}
