/**
 * Invisible characters: default-ignorable code points, blanks (U+2800 is the empty braille pattern) and
 * marks.
 */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Z}\p{M}\u2800]/gu;

/**
 * Characters that look like a Latin letter of either case (UTS #39, confusables.txt): Cyrillic, Greek,
 * Armenian, digits, signs.
 */
const lookAlikes = {
  a: 'аαɑ',
  b: 'вβь',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еε',
  g: 'ɡց',
  h: 'нηһհ',
  j: 'ј',
  k: 'кκ',
  l: 'iіιıӏ1|!',
  m: 'мμ',
  n: 'νո',
  o: 'оοօ0',
  p: 'рρ',
  q: 'ԛզ',
  s: 'ѕ',
  t: 'тτ',
  u: 'ս',
  v: 'ѵ',
  w: 'ԝ',
  x: 'хχ',
  y: 'уυүγ',
  z: 'ζ',
};

const latin = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) =>
    [...others].map((other) => [other, letter] as const),
  ),
);

/**
 * A key that is equal for names that look alike, after the skeletons of UTS #39: it ignores compatibility
 * forms, case and invisible characters, and maps look-alikes to Latin letters. The key of a name that
 * has only invisible characters is the name itself.
 */
export function appearanceOf(name: string): string {
  const folded = name.normalize('NFKD').replaceAll(invisible, '').toLowerCase().normalize('NFKD');
  const letters = [...folded.replaceAll(invisible, '')].map((letter) => latin.get(letter) ?? letter).join('');
  return letters.replaceAll('rn', 'm').replaceAll('vv', 'w') || name;
}
