import { parse } from 'yaml';
import { StartupError } from '#lib/errors/fail.ts';
import { isTimeZone } from '#lib/moving/local-time.ts';
import { readText } from '#lib/moving/read-lines.ts';
import { type Encoding, encodings } from '#lib/moving/read-table.ts';

/** A version of an element. */
interface ElementVersion {
  element: string;
  serial: string;
}

/** What a word of the other system answers; null: nothing is taken over. */
type Answers = Readonly<Record<string, string | readonly string[] | null>>;

/** How the columns of a table become rows (docs/moving.md, "Tables"). */
export interface Mapping {
  source: string;
  encoding?: Encoding;
  separator?: string;
  /** Columns. */
  subject: string;
  id: string;
  object?: string;
  author?: string;
  comment?: string;
  expires?: string;
  time: { column: string; format?: string; zone?: string; zoneColumn?: string };
  evidence?: { kind: string; column: string };
  validity?: string;
  information?: string;
  informationSerial?: string;
  /** One row for each person: a column for each question. */
  columns?: Readonly<Record<string, ElementVersion & { words?: Answers }>>;
  /** One row for each event: a column that names the question, and one with the answer. */
  element?: { column: string; words: Readonly<Record<string, ElementVersion | null>> };
  answer?: { column: string; words?: Answers };
}

const texts = ['source', 'subject', 'id'] as const;
const optionalTexts = [
  ...(['separator', 'object', 'author', 'comment', 'expires'] as const),
  ...(['validity', 'information', 'informationSerial'] as const),
];
const objects: readonly string[] = ['time', 'evidence', 'columns', 'element', 'answer'];

/** Reads a mapping file. @throws StartupError that names each fault. */
export async function readMapping(file: string): Promise<Mapping> {
  const text = await readText(file);
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new StartupError(`${file} is not YAML: ${(cause as Error).message}`, { cause });
  }
  const faults = faultsOf(value);
  if (faults.length > 0)
    throw new StartupError([`The mapping ${file} is not valid:`, ...faults].join('\n  '));
  return value as Mapping;
}

/** The columns that a mapping names. */
export function columnsOf({ time, columns, element, answer, evidence, ...mapping }: Mapping): string[] {
  const { subject, id, object, author, comment, expires } = mapping;
  const named = [subject, id, object, author, comment, expires, time.column, time.zoneColumn];
  const others = [evidence?.column, element?.column, answer?.column, ...Object.keys(columns ?? {})];
  return [...named, ...others].flatMap((name) => name ?? []);
}

type Members = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string' && value !== '';

function faultsOf(mapping: unknown): string[] {
  if (!isObject(mapping)) return ['it has no members'];
  const known: readonly string[] = [...texts, ...optionalTexts, ...objects, 'encoding'];
  const { encoding, time, evidence, columns, element, answer } = mapping;
  const isMapped = isObject(columns) !== (isObject(element) && isObject(answer));
  return [
    ...Object.keys(mapping).flatMap((name) => (known.includes(name) ? [] : `${name}: is not known`)),
    ...texts.flatMap((name) => (isText(mapping[name]) ? [] : `${name}: must be a text`)),
    ...optionalTexts.flatMap((name) =>
      mapping[name] === undefined || isText(mapping[name]) ? [] : `${name}: must be a text in quotes`,
    ),
    ...(encoding === undefined || (encodings as readonly unknown[]).includes(encoding)
      ? []
      : [`encoding: must be one of ${encodings.join(', ')}`]),
    ...(isObject(time) && isText(time.column) ? zoneFaults(time) : ['time: must have a column']),
    ...(evidence === undefined || (isObject(evidence) && isText(evidence.kind) && isText(evidence.column))
      ? []
      : ['evidence: must have a kind and a column']),
    ...(isMapped ? [] : ['must have either columns, or element and answer']),
    ...(isObject(columns) ? versionFaults('columns', columns) : []),
    ...(isObject(element) ? elementFaults(element) : []),
    ...(answer === undefined || (isObject(answer) && isText(answer.column))
      ? []
      : ['answer: must have a column']),
  ];
}

function zoneFaults({ zone }: Members): string[] {
  return zone === undefined || isTimeZone(String(zone))
    ? []
    : ['time.zone: must be a time zone such as Europe/Berlin'];
}

function elementFaults({ column, words }: Members): string[] {
  if (!isText(column) || !isObject(words)) return ['element: must have a column and words'];
  return versionFaults('element.words', words);
}

function versionFaults(place: string, versions: Members): string[] {
  return Object.entries(versions).flatMap(([name, version]) => {
    if (version === null && place !== 'columns') return [];
    const isVersion = isObject(version) && isText(version.element) && isText(version.serial);
    return isVersion ? [] : `${place}.${name}: must have an element and a serial in quotes`;
  });
}
