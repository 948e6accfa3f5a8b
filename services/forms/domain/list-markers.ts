type Attributes = Readonly<Record<string, string | undefined>>;

const romans = [
  [1000, 'm'],
  [900, 'cm'],
  [500, 'd'],
  [400, 'cd'],
  [100, 'c'],
  [90, 'xc'],
  [50, 'l'],
  [40, 'xl'],
  [10, 'x'],
  [9, 'ix'],
  [5, 'v'],
  [4, 'iv'],
  [1, 'i'],
] as const;

/**
 * The numbers of a list's items as browsers show them, such as `c.`, so that a clause has the same name in
 * every format (HTML Standard, "ordinal value"; CSS Counter Styles Level 3 §6).
 * @param list attributes of `ol`. @param items those of each of its `li`.
 */
export function listMarkers(list: Attributes, items: readonly Attributes[]): string[] {
  const step = list.reversed === undefined ? 1 : -1;
  let next = integer(list.start) ?? (step === 1 ? 1 : items.length);
  return items.map(({ value, type = list.type }) => {
    const ordinal = integer(value) ?? next;
    next = ordinal + step;
    return `${written(ordinal, type)}.`;
  });
}

function integer(text: string | undefined): number | undefined {
  const value = Number.parseInt(text ?? '', 10);
  return Number.isNaN(value) ? undefined : value;
}

function written(ordinal: number, type: string | undefined): string {
  const lower = type?.toLowerCase();
  const text = lower === 'a' ? letters(ordinal) : lower === 'i' ? roman(ordinal) : undefined;
  // Letters and numerals have no zero, no negative and, of numerals, no large numbers.
  if (text === undefined) return String(ordinal);
  return type === lower ? text : text.toUpperCase();
}

function letters(ordinal: number): string | undefined {
  let text = '';
  for (let rest = ordinal; rest > 0; rest = Math.floor((rest - 1) / 26))
    text = String.fromCharCode(97 + ((rest - 1) % 26)) + text;
  return text || undefined;
}

function roman(ordinal: number): string | undefined {
  if (ordinal < 1 || ordinal > 3999) return undefined;
  let rest = ordinal;
  return romans
    .map(([value, numeral]) => {
      const times = Math.floor(rest / value);
      rest -= times * value;
      return numeral.repeat(times);
    })
    .join('');
}
