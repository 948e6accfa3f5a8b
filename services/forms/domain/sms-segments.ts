/** GSM 7-bit default alphabet (3GPP TS 23.038 §6.2.1), without the escape character. */
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
);
/** Its extension table: each character takes two septets, which one segment must hold. */
const extended = new Set('\f^{}\\[~]|€');

/** Septets (GSM-7) or UTF-16 code units (UCS-2): in a message of one segment, and in each of several. */
const sizes = { 'GSM-7': { single: 160, each: 153 }, 'UCS-2': { single: 70, each: 67 } } as const;

export interface SmsSize {
  encoding: keyof typeof sizes;
  segments: number;
}

/**
 * The number of segments of an SMS (3GPP TS 23.040 §9.2.3.24.1): GSM-7 if its alphabet has every character,
 * else UCS-2. No character is split between segments.
 */
export function measureSms(text: string): SmsSize {
  const characters = [...text];
  const encoding = characters.every(isGsm7) ? 'GSM-7' : 'UCS-2';
  const widths = characters.map((character) => widthOf(character, encoding));
  const { single, each } = sizes[encoding];
  if (widths.reduce((sum, width) => sum + width, 0) <= single) return { encoding, segments: 1 };
  let segments = 1;
  let used = 0;
  for (const width of widths) {
    used += width;
    if (used <= each) continue;
    segments += 1;
    used = width;
  }
  return { encoding, segments };
}

function isGsm7(character: string): boolean {
  return basic.has(character) || extended.has(character);
}

function widthOf(character: string, encoding: SmsSize['encoding']): number {
  return encoding === 'UCS-2' ? character.length : extended.has(character) ? 2 : 1;
}

/** Replacements in GSM-7 for characters that it does not have. */
const lookAlikes: Record<string, string> = {
  '’': "'",
  '‘': "'",
  '“': '"',
  '”': '"',
  '«': '"',
  '»': '"',
  '–': '-',
  '—': '-',
  '…': '...',
  '\u00a0': ' ',
  '\u202f': ' ',
  œ: 'oe',
  Œ: 'OE',
};

/**
 * The text in GSM-7, in which a segment holds more than twice as much: typographic characters become plain
 * and letters lose accents that GSM-7 lacks.
 * @returns undefined if another character is left.
 */
export function toGsm7(text: string): string | undefined {
  const simple = Array.from(text, (character) =>
    isGsm7(character) ? character : (lookAlikes[character] ?? withoutMarks(character)),
  ).join('');
  return [...simple].every(isGsm7) ? simple : undefined;
}

function withoutMarks(character: string): string {
  return character.normalize('NFD').replaceAll(/\p{M}/gu, '');
}
