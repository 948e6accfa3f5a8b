import type { components } from '#lib/contracts/openapi.gen.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';
import type { Column } from '../../pages/table.ts';
import { subjectPath } from '../subjects/subject-path.ts';

/** A transaction without its token and links. */
export type Listed = components['schemas']['ListedTransaction'];

export const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;

export function columnsOf(reader: ConsoleReader, kit: RoomKit): Column<Listed>[] {
  const { time, code, text, state } = columnsFor<Listed>(reader);
  return [
    time('transactions.created', ({ created }) => created),
    code('transactions.id', ({ id }) => id, { href: ({ id }) => `${kit.path}/${id}` }),
    text('transactions.subject', ({ subject }) => subject, {
      href: ({ subject }) => subjectPath(kit, subject),
    }),
    state('transactions.state', 'transactionState', (each) => each.state),
  ];
}
