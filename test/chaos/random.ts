import type { Fault } from './faults/fault.ts';

/** Random numbers that are the same for the same seed (mulberry32). */
export interface Random {
  /** @returns a whole number from `least` to `most`. */
  between(least: number, most: number): number;
  pick<T>(choices: readonly T[]): T;
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return { between, pick: (choices) => choices[between(0, choices.length - 1)] as (typeof choices)[number] };
}

/** What happens at once: one fault, or two. */
export type Blow = readonly Fault[];

/**
 * Draws blows without end: every kind of fault first, in any order, then one or two at a time. Where
 * something is promised meanwhile a fault comes alone at first, else nobody could tell whose fault it was;
 * the others come in pairs. Kinds come equally often, however many replicas a service has.
 */
export function* drawBlows(faults: readonly Fault[], random: Random): Generator<Blow, never> {
  const kinds = [...Map.groupBy(faults, ({ name }) => name).values()];
  const draw = () => random.pick(random.pick(kinds));
  const each = shuffle(kinds, random).map((kind) => random.pick(kind));
  const alone = each.filter(({ promised }) => promised).map((fault): Blow => [fault]);
  const others = each.filter(({ promised }) => !promised);
  yield* shuffle([...alone, ...pair(others)], random);
  for (;;) {
    const one = draw();
    const other = draw();
    yield random.pick([true, false]) && one.breaks !== other.breaks ? [one, other] : [one];
  }
}

/** The faults of a pair break different things. */
function pair(faults: readonly Fault[]): Blow[] {
  const left = [...faults];
  const pairs: Blow[] = [];
  for (let one = left.shift(); one; one = left.shift()) {
    const { breaks } = one;
    const index = left.findIndex((other) => other.breaks !== breaks);
    pairs.push(index < 0 ? [one] : [one, ...left.splice(index, 1)]);
  }
  return pairs;
}

function shuffle<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return list.map(() => left.splice(random.between(0, left.length - 1), 1)[0] as T);
}
