import type { Fault } from './fault.ts';

/** A fault by its name; of several the first. @throws Error if there is none. */
export function findFault(faults: readonly Fault[], name: string): Fault {
  const fault = faults.find((each) => each.name === name);
  if (!fault) throw new Error(`There is no fault "${name}".`);
  return fault;
}
