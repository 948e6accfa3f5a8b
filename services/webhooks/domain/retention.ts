/** So long deliveries are listed, and events known again. */
export const keptDays = 30;

/** Some topics keep events for ever: what is older than this is not told any more, because nobody knows whether it was told already. */
export const toldWithinDays = keptDays - 2;
