import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { dayPlot } from '../../pages/day-plot.ts';
import { type Column, tableView } from '../../pages/table.ts';
import type { DayCount, ElementCount } from './read-stats.ts';

type Stats = components['schemas']['Stats'];

/** Columns of the table, and of the file, of what happened by day. */
export function dayColumns(reader: ConsoleReader): Column<DayCount>[] {
  const count = (name: 'created' | 'committed'): Column<DayCount> => ({
    label: reader.t(`home.${name}`),
    isNumber: true,
    cell: (day) => ({ number: reader.number(day[name]) }),
    csv: (day) => day[name],
  });
  return [
    {
      label: reader.t('home.day'),
      cell: ({ date }) => ({ time: reader.day(date) }),
      csv: ({ date }) => date,
    },
    count('created'),
    count('committed'),
  ];
}

/** Columns of the table, and of the file, of the answers by element. */
export function elementColumns(reader: ConsoleReader): Column<ElementCount>[] {
  const count = (name: 'accepted' | 'refused'): Column<ElementCount> => ({
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
    { label: reader.t('home.share'), cell: (element) => ({ bar: shareBar(reader, element) }) },
    count('accepted'),
    count('refused'),
  ];
}

function shareBar(reader: ConsoleReader, { accepted, refused }: ElementCount) {
  const share = accepted / Math.max(1, accepted + refused);
  return { share: Math.round(share * 1000) / 10, text: reader.percent(share) };
}

/** What the panel of transactions shows: a sentence, the plot, its table. */
export function transactionFigures(reader: ConsoleReader, { days, states }: Stats, path: string) {
  const created = days.reduce((sum, day) => sum + day.created, 0);
  const share = created === 0 ? '' : reader.percent(states.COMMITTED / created);
  const open = states.CREATED + states.SUBMITTED;
  return {
    sentence:
      created === 0
        ? reader.t('home.noTransactions')
        : reader.t('home.transactionsText', { created, committed: states.COMMITTED, share, open }),
    plot:
      created > 0 && days.length > 1
        ? dayPlot(
            reader,
            days.map((day) => ({ date: day.date, whole: day.created, part: day.committed })),
          )
        : null,
    table: tableView(reader, {
      caption: reader.t('home.transactions'),
      columns: dayColumns(reader),
      rows: created === 0 ? [] : days.toReversed(),
      path,
      csv: 'days',
    }),
  };
}

/** What the panel of answers shows: a sentence, and a table with a bar in each row. */
export function answerFigures(reader: ConsoleReader, elements: readonly ElementCount[], path: string) {
  const accepted = elements.reduce((sum, element) => sum + element.accepted, 0);
  const answers = elements.reduce((sum, element) => sum + element.accepted + element.refused, 0);
  return {
    sentence:
      answers === 0
        ? reader.t('home.noAnswers')
        : reader.t('home.answersText', { answers, share: reader.percent(accepted / answers) }),
    table: tableView(reader, {
      caption: reader.t('home.answers'),
      columns: elementColumns(reader),
      rows: elements,
      path,
      csv: 'elements',
    }),
  };
}
