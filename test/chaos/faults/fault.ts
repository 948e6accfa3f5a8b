/** Ends a fault: what was broken is whole again when it resolves. */
export type Heal = () => Promise<void>;

/** What must go on while something is broken. */
export interface Promised {
  /** What is asked for (`form`, `submit`); all if absent. */
  kinds?: readonly string[];
  /** Of the requests sent meanwhile, how many in a thousand are answered. */
  perMille: number;
}

/** One thing that happens to such systems (docs/reliability.md, "Faults"). */
export interface Fault {
  name: string;
  /** What it breaks; the faults of a pair break different things. */
  breaks: string;
  /** For how long, in ms. */
  lasts: readonly [least: number, most: number];
  promised?: Promised;
  strike(): Promise<Heal>;
}

/** Healed as soon as it has happened. */
export const atOnce = [0, 0] as const;

/** What subjects do goes on while Kafka, Redis or webhooks are away (at least 99.9 %). */
export const formAndSubmit: Promised = { kinds: ['form', 'submit'], perMille: 999 };
