import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { stateMark } from '../../pages/states.ts';
import type { Column } from '../../pages/table.ts';

/** A transaction without its token and links. */
export type Listed = components['schemas']['ListedTransaction'];

export const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;

/** @param path of the room. */
export function columnsOf(reader: ConsoleReader, path: string): Column<Listed>[] {
  return [
    {
      label: reader.t('transactions.created'),
      cell: ({ created }) => ({ time: reader.time(created) }),
      csv: ({ created }) => created,
    },
    {
      label: reader.t('transactions.id'),
      cell: ({ id }) => ({ code: id, href: `${path}/${id}` }),
      csv: ({ id }) => id,
    },
    {
      label: reader.t('transactions.subject'),
      cell: ({ subject }) => ({ text: subject }),
      csv: ({ subject }) => subject,
    },
    {
      label: reader.t('transactions.state'),
      cell: ({ state }) => ({ state: stateMark(reader, 'transactionState', state) }),
      csv: ({ state }) => state,
    },
  ];
}
