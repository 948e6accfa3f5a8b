import type { Fault } from './faults/fault.ts';
import type { Random } from './random.ts';

/** What happens at once: one fault, or two. */
export type Blow = readonly Fault[];

/**
 * Draws blows without end: every kind of fault alone first, in any order, then one or two at a time. Kinds come equally often, however
 * many replicas a service has.
 */
export function* drawBlows(faults: readonly Fault[], random: Random): Generator<Blow, never> {
  const kinds = [...Map.groupBy(faults, ({ name }) => name).values()];
  const draw = () => random.pick(random.pick(kinds));
  for (const kind of shuffle(kinds, random)) yield [random.pick(kind)];
  for (;;) {
    const one = draw();
    const other = draw();
    yield random.pick([true, false]) && one.breaks !== other.breaks ? [one, other] : [one];
  }
}

function shuffle<T>(list: readonly T[], random: Random): T[] {
  const left = [...list];
  return list.map(() => left.splice(random.between(0, left.length - 1), 1)[0] as T);
}
