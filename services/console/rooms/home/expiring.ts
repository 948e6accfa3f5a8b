import type { ApiClient } from '../../api/api-client.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type Column, tableView } from '../../pages/table.ts';

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
  const types = ['processing', 'preference', 'conditions'];
  const { body: models } = await api.call('listModels', {
    query: { types, statuses: ['ACTIVE'], size: 200 },
  });
  if (models.values.length === 0) return { elements: [], isAtLeast: false };
  const keys = models.values.map(({ key }) => key);
  const { body } = await api.call('countValidAnswers', { query: { keys, within } });
  const names = new Map(models.values.map(({ key, name }) => [key, name]));
  const elements = body.values
    .filter(({ expiring }) => expiring > 0)
    .sort((a, b) => b.expiring - a.expiring)
    .map(({ key, subjects, expiring }) => ({ key, name: names.get(key) ?? key, valid: subjects, expiring }));
  return { elements, isAtLeast: body.atLeast };
}

export function expiringColumns(reader: ConsoleReader): Column<ExpiringCount>[] {
  const count = (name: 'valid' | 'expiring'): Column<ExpiringCount> => ({
    label: reader.t(`home.${name}`),
    isNumber: true,
    cell: (element) => ({ number: reader.number(element[name]) }),
    csv: (element) => element[name],
  });
  return [
    {
      label: reader.t('home.element'),
      cell: ({ key, name }) => ({
        text: name,
        href: `/console/elements/${encodeURIComponent(key)}`,
        note: key,
      }),
      csv: ({ key }) => key,
    },
    count('expiring'),
    count('valid'),
  ];
}

/** What the panel of answers that expire soon shows. */
export function expiringFigures(
  reader: ConsoleReader,
  { elements, isAtLeast }: Awaited<ReturnType<typeof readExpiring>>,
  path: string,
) {
  const count = elements.reduce((sum, { expiring }) => sum + expiring, 0);
  return {
    sentence: reader.t(isAtLeast ? 'home.expiringAtLeast' : 'home.expiringText', { count }),
    table: tableView(reader, {
      caption: reader.t('home.expiringTitle'),
      columns: expiringColumns(reader),
      rows: elements,
      path,
      csv: 'expiring',
    }),
  };
}
