/** The database's time for whoever was told it a moment ago. A guess: who stores something by it has the database confirm it. */
export interface ToldTime {
  tell(now: Date): void;
  /** Undefined if the last word was too long ago. */
  now(): Date | undefined;
}

const goodForMs = 1_000;

export function createToldTime(): ToldTime {
  let told: { now: Date; at: number } | undefined;
  return {
    tell(now) {
      told = { now, at: performance.now() };
    },
    now() {
      const sinceMs = told ? performance.now() - told.at : Number.POSITIVE_INFINITY;
      return told && sinceMs < goodForMs ? new Date(told.now.getTime() + sinceMs) : undefined;
    },
  };
}
