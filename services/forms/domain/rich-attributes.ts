type Attributes = Readonly<Record<string, string | undefined>>;

/** Numbers of list items, as every reader of a page, a PDF and a text can write them. */
const maxNumber = 999_999;
/** Columns or rows of one cell of a table. */
const maxSpan = 100;

/** Kinds of numbers of a list: decimal, letters and Roman numerals. */
const numberTypes = new Set(['1', 'a', 'A', 'i', 'I']);

const isNumber = (value: number) => Math.abs(value) <= maxNumber;
const isSpan = (value: number) => value >= 1 && value <= maxSpan;

/** Attributes with an integer, and the values that they may have. */
const integers: Record<string, Record<string, (value: number) => boolean>> = {
  ol: { start: isNumber },
  li: { value: isNumber },
  td: { colspan: isSpan, rowspan: isSpan },
  th: { colspan: isSpan, rowspan: isSpan },
};

/**
 * The attributes that number list items and join cells of tables, as HTML reads them (HTML Standard, "ordered
 * list", "attributes common to td and th elements"): values that mean nothing are left out.
 */
export function countingAttributes(tag: string, given: Attributes): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, isAllowed] of Object.entries(integers[tag] ?? {})) {
    const value = readInteger(given[name]);
    if (value !== undefined && isAllowed(value)) kept[name] = String(value);
  }
  if (tag !== 'ol' && tag !== 'li') return kept;
  if (numberTypes.has(given.type ?? '')) kept.type = given.type as string;
  if (tag === 'ol' && given.reversed !== undefined) kept.reversed = '';
  return kept;
}

/**
 * What is wrong with an element's numbers: if a number out of range were dropped, clauses would change.
 */
export function numberOutOfRange(tag: string, given: Attributes): string | undefined {
  for (const [name, isAllowed] of Object.entries(integers[tag] ?? {})) {
    const value = readInteger(given[name]);
    if (value === undefined || isAllowed(value)) continue;
    const range = isAllowed === isSpan ? `1 to ${maxSpan}` : `-${maxNumber} to ${maxNumber}`;
    return `${name} of <${tag}> must be from ${range}`;
  }
  return undefined;
}

/** Reads an integer as HTML does: after white space, and whatever follows it. */
function readInteger(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? undefined : value;
}
