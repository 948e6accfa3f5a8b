import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import type { Column } from '../../pages/table.ts';
import { subjectPath } from '../subjects/subject-path.ts';

/** A transaction without its token and links. */
export type Listed = components['schemas']['ListedTransaction'];

export const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;

export function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Listed>[] {
  return [
    {
      label: reader.t('transactions.created'),
      cell: ({ created }) => ({ time: reader.time(created) }),
      csv: ({ created }) => created,
    },
    {
      label: reader.t('transactions.id'),
      cell: ({ id }) => ({ code: id, href: `${kit.path}/${id}` }),
      csv: ({ id }) => id,
    },
    {
      label: reader.t('transactions.subject'),
      cell: ({ subject }) => ({ text: subject, href: subjectPath(kit, subject) }),
      csv: ({ subject }) => subject,
    },
    {
      label: reader.t('transactions.state'),
      cell: ({ state }) => ({ state: stateMark(reader, 'transactionState', state) }),
      csv: ({ state }) => state,
    },
  ];
}
