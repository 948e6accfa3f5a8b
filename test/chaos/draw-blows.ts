import type { Fault } from './faults/fault.ts';
import type { Random } from './random.ts';

/** What happens at once: one fault, or two. */
export type Blow = readonly Fault[];

/**
 * Draws blows without end: every kind of fault first, in any order, then one or two at a time. Where something is promised meanwhile a fault comes
 * alone at first, else nobody could tell whose fault it was; the others come in pairs. Kinds come equally often, however many replicas a service has.
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
