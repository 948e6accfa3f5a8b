import type { Schemas } from '../api/api-types.ts';
import { formPath } from '../models/read-model.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import type { CellView, Column } from '../pages/table.ts';

type Asking = Pick<Schemas['ListedTransaction'], 'kind' | 'context' | 'erased'>;

/**
 * What a transaction asked: a form by its name, single elements, or nothing: a withdrawal or an import. Of an
 * erased one it is not known any more.
 */
export function formCell(
  reader: ConsoleReader,
  { kind, context, erased }: Asking,
  nameOf: (key: string) => string,
): CellView {
  if (kind) return { text: reader.t(kind === 'IMPORT' ? 'transaction.import' : 'transaction.withdrawal') };
  if (erased) return { text: '–' };
  const { layout } = context ?? {};
  return layout
    ? { text: nameOf(layout), href: formPath(layout) }
    : { text: reader.t('transaction.elements') };
}

/** Beside {@link kindColumn}. @param nameOf the name of a form by its key, which the file has. */
export function formColumn<Row extends Asking>(
  reader: ConsoleReader,
  nameOf: (key: string) => string,
): Column<Row> {
  return {
    label: reader.t('transaction.form'),
    cell: (row) => (row.kind ? { text: '–' } : formCell(reader, row, nameOf)),
    csv: ({ kind, context }) => (kind ? '' : (context?.layout ?? '')),
  };
}

/** What a transaction is; below it, that its answers have ended a consent or objected. */
export function kindColumn<Row extends Pick<Schemas['ListedTransaction'], 'kinds'>>(
  reader: ConsoleReader,
): Column<Row> {
  const wordOf = (kind: string | undefined) => kind && reader.word('transactionKind', kind);
  return {
    label: reader.t('transaction.kind'),
    cell: ({ kinds: [first, second] = [] }) => ({ text: wordOf(first) ?? '–', note: wordOf(second) }),
    csv: ({ kinds = [] }) => kinds.join(','),
  };
}
