import type { Fault } from '#lib/errors/fail.ts';

/**
 * Reads a list parameter that takes known values alone; empty ones count as absent. An unknown one is a fault and not a list
 * without entries: whoever mistypes a filter should learn it.
 */
export function readChoices<Choice extends string>(
  value: unknown,
  name: string,
  choices: readonly Choice[],
  faults: Fault[],
): Choice[] | undefined {
  const wanted = [value ?? []]
    .flat()
    .map(String)
    .filter((text) => text !== '');
  if (wanted.some((text) => !(choices as readonly string[]).includes(text)))
    faults.push({ pointer: `/${name}`, code: 'invalid', detail: `must be some of ${choices.join(', ')}` });
  return wanted.length > 0 ? (wanted as Choice[]) : undefined;
}
