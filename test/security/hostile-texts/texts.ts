/**
 * A text that is costly for something: normalising, language tags, HTML, CSS, patterns, parsers of addresses
 * or durations.
 */
export interface HostileText {
  name: string;
  /** A text that takes at most so many bytes as a JSON string or percent-encoded. */
  of(bytes: number): string;
}

const repeat = (part: string, bytes: number, each: number) =>
  part.repeat(Math.max(1, Math.floor(bytes / each)));
/** @param each bytes of a part when it is encoded. */
const repeated = (name: string, part: string, each: number, [start, end] = ['', '']): HostileText => ({
  name,
  of: (bytes) => `${start}${repeat(part, bytes - 40, each)}${end}`,
});

/**
 * As they are worst in a JSON string. Those with a break are stream-safe (UAX #15), and taken if they are
 * short enough.
 */
export const hostileTexts: HostileText[] = [
  repeated('combining marks out of order', '\u0301\u0316', 4),
  repeated('combining marks in runs of 30', `a${'\u0301\u0316'.repeat(15)}`, 61),
  {
    name: 'a language tag with thousands of variants',
    of: (bytes) =>
      `en-u-${Array.from({ length: Math.max(1, Math.floor(bytes / 7)) }, (_, index) => `v${10_000 + (index % 90_000)}`).join('-')}`,
  },
  repeated('subtags of one letter', 'a-', 2, ['', 'a']),
  repeated('white space', ' ', 1, ['a', 'a']),
  repeated('nested tags', '<b>', 3),
  repeated('entities', '&', 1),
  repeated('nested brackets', '({[', 3),
  repeated('nested rules', 'a{', 2),
  repeated('quotes and backslashes', '"\\', 4),
  repeated('digits', '9', 1, ['P', 'D']),
  repeated('labels of an international name', 'xn--a.', 6, ['https://', 'example']),
  repeated('signs of e-mail addresses', '@.', 2, ['a', 'a']),
  repeated('slashes', 'element/', 8),
  repeated('text that is turned round', '\u202e\u2066', 6),
  repeated('ligatures that become words', '\ufdfa', 3),
  repeated('half characters', '\ud800', 6),
];

/** As it stands in an address or a form post, where each byte may take three. */
export const encodedTexts: HostileText[] = hostileTexts.map(({ name, of }) => ({
  name,
  of: (bytes) => of(Math.floor(bytes / 3)),
}));

/**
 * The texts that one of several fields gets: each text goes to some field; `HOSTILE_TEXTS=all`: all to all.
 * @param of how many fields share the texts.
 */
export function shareOf(
  texts: readonly HostileText[],
  { turn, of }: { turn: number; of: number },
): HostileText[] {
  return texts.filter((_, index) => process.env.HOSTILE_TEXTS === 'all' || index % of === turn % of);
}
