/** Ends a fault: what was broken is whole again when it resolves. */
export type Heal = () => Promise<void>;

/** What must go on while something is broken. */
export interface Promised {
  /** What is asked for (`form`, `submit`); all if absent. */
  kinds?: readonly string[];
  /** Of the requests sent meanwhile, how many in a thousand are answered. */
  perMille: number;
}

/** One fault to inject (docs/reliability.md, "Faults"). */
export interface Fault {
  name: string;
  /** What it breaks; the faults of a pair break different things. */
  breaks: string;
  /** For how long, in ms. */
  lasts: readonly [least: number, most: number];
  promised?: Promised;
  strike(): Promise<Heal>;
}

/** The fault is healed at once. */
export const atOnce = [0, 0] as const;

/** What subjects do goes on while Kafka, Redis or webhooks are away (at least 99.9 %). */
export const formAndSubmit: Promised = { kinds: ['form', 'submit'], perMille: 999 };

/** A fault by its name; of several the first. @throws Error if there is none. */
export function findFault(faults: readonly Fault[], name: string): Fault {
  const fault = faults.find((each) => each.name === name);
  if (!fault) throw new Error(`There is no fault "${name}".`);
  return fault;
}
