import type { Schemas } from '../../api/api-types.ts';
import { elementPath } from '../../models/read-model.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { dayPlot } from '../../pages/day-plot.ts';
import { type Column, tableView } from '../../pages/table.ts';
import type { DayCount, ElementCount } from '../../people/read-stats.ts';

type Stats = Schemas['Stats'];

/** Columns of the table, and of the file, of what happened by day. */
export function dayColumns(reader: ConsoleReader): Column<DayCount>[] {
  const { number } = columnsFor<DayCount>(reader);
  return [
    {
      label: reader.t('home.day'),
      cell: ({ date }) => ({ time: reader.day(date) }),
      csv: ({ date }) => date,
    },
    number('home.created', ({ created }) => created),
    number('home.committed', ({ committed }) => committed),
  ];
}

/** The name of an element, with its key. */
export function elementColumn(reader: ConsoleReader): Column<{ key: string; name: string }> {
  return {
    label: reader.t('home.element'),
    cell: ({ key, name }) => ({ text: name, href: elementPath(key), note: key }),
    csv: ({ key }) => key,
  };
}

/** Columns of the table, and of the file, of the answers by element. */
export function elementColumns(reader: ConsoleReader): Column<ElementCount>[] {
  const { number } = columnsFor<ElementCount>(reader);
  return [
    elementColumn(reader),
    { label: reader.t('home.share'), cell: (element) => ({ bar: shareBar(reader, element) }) },
    number('home.accepted', ({ accepted }) => accepted),
    number('home.refused', ({ refused }) => refused),
    number('home.withdrawn', ({ withdrawn }) => withdrawn),
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
