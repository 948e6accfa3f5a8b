import type { Schemas } from '../../api/api-types.ts';
import { elementPath } from '../../models/read-model.ts';
import { columnsFor, timeCell } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { StateMark } from '../../pages/states.ts';
import { type Column, type TableView, tableView } from '../../pages/table.ts';

export type Decisions = Schemas['Decisions'];
type ElementDecision = Schemas['ElementDecision'];
type PurposeDecision = Schemas['PurposeDecision'];

/** What the page knows beside the decisions. */
interface Known {
  /** Names of the ACTIVE elements by key. */
  names: ReadonlyMap<string, string>;
  /** Transactions by record. */
  transactions: ReadonlyMap<string, string>;
}

/** A decision about a purpose, with those about its elements. */
interface PurposeView {
  title: string;
  mark: StateMark;
  text: string;
  table: TableView;
}

/** The decisions about elements as one table, and one table for each purpose. */
export function decisionsView(reader: ConsoleReader, decisions: Decisions['decisions'], known: Known) {
  const rows = decisions.filter((each): each is ElementDecision => 'element' in each);
  const purposes = decisions.filter((each): each is PurposeDecision => 'purpose' in each);
  return {
    elements: rows.length > 0 && tableOf(reader, reader.t('decisions.elements'), rows, known),
    purposes: purposes.map((each): PurposeView => {
      const purpose = reader.word('purpose', each.purpose);
      const title = reader.t('decisions.purpose', { purpose });
      return {
        title,
        mark: markOf(reader, each),
        text: purposeText(reader, each),
        table: tableOf(reader, title, each.decisions, known),
      };
    }),
  };
}

/** A full circle for yes and an empty one for no, each with its word. */
function markOf({ t }: ConsoleReader, { allowed }: { allowed: boolean }): StateMark {
  return allowed
    ? { shape: 'in-force', word: t('decisions.allowed') }
    : { shape: 'over', word: t('decisions.notAllowed') };
}

/** A purpose is allowed if every element is; its own reason is that of the first element that is not. */
function purposeText({ t }: ConsoleReader, { allowed, decisions }: PurposeDecision): string {
  if (decisions.length === 0) return t('decisions.purposeEmpty');
  return t(allowed ? 'decisions.purposeAllowed' : 'decisions.purposeNotAllowed');
}

/** Where an answer was given, unless that was in a form of this instance. */
function evidenceNote({ t }: ConsoleReader, evidence: ElementDecision['evidence']): string | undefined {
  if (evidence === 'IMPORTED') return t('decisions.imported');
  return evidence === 'PEER' ? t('decisions.ofPeer') : undefined;
}

function tableOf(
  reader: ConsoleReader,
  caption: string,
  rows: readonly ElementDecision[],
  { names, transactions }: Known,
): TableView {
  const { t } = reader;
  const { time, link } = columnsFor<ElementDecision>(reader);
  const columns: Column<ElementDecision>[] = [
    {
      label: t('subjects.element'),
      cell({ element, reason, serial }) {
        const name = names.get(element);
        const isOurs = reason !== 'UNKNOWN' && reason !== 'NOT_OURS';
        const href = isOurs ? elementPath(element) : undefined;
        const note = [name && element, serial].filter(Boolean).join(' · ');
        return { ...(name ? { text: name } : { code: element }), href, note };
      },
    },
    { label: t('decisions.decision'), cell: (decision) => ({ state: markOf(reader, decision) }) },
    {
      label: t('decisions.reason'),
      cell: ({ reason, owner, evidence }) => ({
        text: reader.word('reason', reason),
        note: owner ?? evidenceNote(reader, evidence),
      }),
    },
    time('answers.given', ({ given }) => given, ''),
    {
      label: t('answers.expires'),
      cell: ({ allowed, expires }) => timeCell(reader, expires, allowed ? t('decisions.noEnd') : ''),
    },
    link('subjects.transaction', 'subjects.show', ({ record = '' }) => {
      const transaction = transactions.get(record);
      return transaction && `/console/transactions/${transaction}`;
    }),
  ];
  return tableView(reader, { caption, rows, columns });
}
