import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { CellView, Column } from '../../pages/table.ts';
import type { AuditLine } from './merge-areas.ts';
import type { Named } from './resolve-names.ts';

/** Names by `<kind>/<id>`. */
export type Names = ReadonlyMap<string, Named>;

/** A line as the page shows it: with the other reads of the same page view. */
export interface ShownLine extends AuditLine {
  /** What else was read of the same target, in the order in which it was read. */
  also?: readonly string[];
}

/**
 * Shows the reads of one page view as one line: a page of the console reads a person, the person's answers
 * and transactions, each by a call of its own with the id of the page's request. Changes stay lines of their
 * own.
 * @param lines newest first.
 */
export function groupReads(lines: readonly AuditLine[], reads: ReadonlySet<string>): ShownLine[] {
  const shown = new Map<string, ShownLine>();
  for (const line of lines) {
    const { request, actor, target, action } = line;
    const key = request && reads.has(action) ? JSON.stringify([request, actor, target]) : line.id;
    const first = shown.get(key);
    if (!first) shown.set(key, line);
    else if (first.action !== action && !first.also?.includes(action))
      shown.set(key, { ...first, also: [...(first.also ?? []), action] });
  }
  return [...shown.values()];
}

export function columnsOf(reader: ConsoleReader, path: string, names: Names): Column<ShownLine>[] {
  const { t } = reader;
  return [
    {
      label: t('audit.at'),
      cell: ({ at, request }) => ({
        time: reader.second(at),
        ...(request && { details: { word: t('audit.request'), code: request } }),
      }),
      csv: ({ at }) => at,
    },
    {
      label: t('audit.actor'),
      cell: (line) => actorCell(reader, path, line, names),
      csv: ({ actorKind, actor }) => `${actorKind}/${actor}`,
    },
    {
      label: t('audit.action'),
      cell: ({ action, outcome, also = [] }) => ({
        text: [action, ...also].map((each) => reader.word('auditAction', each)).join(' · '),
        ...(outcome && { note: changeText(outcome) }),
      }),
      csv: ({ action }) => action,
    },
    {
      label: t('audit.target'),
      cell: (line) => targetCell(reader, path, line, names),
      csv: ({ target }) => target,
    },
  ];
}

/** The value of a setting before and after a change, which the line has as a JSON array. */
function changeText(outcome: string): string {
  const values: (string | null)[] = JSON.parse(outcome);
  return values.map((value) => value ?? '–').join(' → ');
}

/** The link leads to the lines of the same actor. */
function actorCell(
  reader: ConsoleReader,
  path: string,
  { actorKind, actor }: AuditLine,
  names: Names,
): CellView {
  const href = withQuery(path, { actor });
  const name = names.get(`${actorKind}/${actor}`)?.name;
  const note = reader.word('auditActor', actorKind);
  return name === undefined ? { code: actor, href, note } : { text: name, href, note };
}

function targetCell(reader: ConsoleReader, path: string, { target }: AuditLine, names: Names): CellView {
  const [kind = '', id = ''] = target.split('/');
  const note = reader.word('auditTarget', kind);
  if (id === 'all') return { text: reader.t('audit.all'), note };
  const named = names.get(target);
  if (named) return { text: named.name, href: named.href, note };
  if (kind === 'subject') return { code: id, href: `${path}/subject/${id}`, note };
  if (kind === 'transaction') return { code: id, href: `/console/transactions/${id}`, note };
  return { code: id, note };
}
