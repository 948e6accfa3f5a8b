/** A peer as its copy names it. */
export interface NamedPeer {
  /** What it calls itself. */
  owner: string;
  /** host[:port] of its address. */
  host: string;
  /** Another peer has a name that looks the same. */
  isNamesake: boolean;
}

/**
 * What people are told who asks: the peer's name, and its address beside it where the name alone does not say whose the answer will be,
 * because the name of this instance or of another peer looks the same.
 * @param ownName INSTANCE_NAME
 */
export function ownerName({ owner, host, isNamesake }: NamedPeer, ownName: string): string {
  return isNamesake || appearanceOf(owner) === appearanceOf(ownName) ? `${owner} (${host})` : owner;
}

/** Characters that are not seen: those that Unicode says to ignore, blanks (U+2800 is the empty braille pattern), and marks. */
const notSeen = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Z}\p{M}\u2800]/gu;

/** What looks like a Latin letter in one of its cases (UTS #39, confusables.txt): Cyrillic, Greek, Armenian, digits, signs. */
const lookAlikes = {
  a: 'аαɑ', b: 'вβь', c: 'сϲ', d: 'ԁ', e: 'еε', g: 'ɡց', h: 'нηһհ', j: 'ј', k: 'кκ', l: 'iіιıӏ1|!', m: 'мμ', n: 'νո', o: 'оοօ0',
  p: 'рρ', q: 'ԛզ', s: 'ѕ', t: 'тτ', u: 'ս', v: 'ѵ', w: 'ԝ', x: 'хχ', y: 'уυүγ', z: 'ζ',
}; // biome-ignore format: a table

const latin = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) =>
    [...others].map((other) => [other, letter] as const),
  ),
);

/**
 * What two names have in common if people take one for the other, after the skeletons of UTS #39: compatibility forms, case, what is
 * not seen, and letters that look like Latin ones do not count. A name that has nothing else stands for itself.
 */
export function appearanceOf(name: string): string {
  const folded = name.normalize('NFKD').replaceAll(notSeen, '').toLowerCase().normalize('NFKD');
  const letters = [...folded.replaceAll(notSeen, '')].map((letter) => latin.get(letter) ?? letter).join('');
  return letters.replaceAll('rn', 'm').replaceAll('vv', 'w') || name;
}
