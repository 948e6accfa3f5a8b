import type { DayCount } from './read-stats.ts';

/** A rectangle of a plot, in the units of its view box. */
interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The plot of the transactions by day: a frame for those created, filled as far as they are committed. */
export interface DayPlot {
  width: number;
  height: number;
  created: Bar[];
  committed: Bar[];
  /** The greatest count, at the upper end of the plot. */
  top: number;
}

const height = 120;
/** Width of a day, and of the gap after it. */
const step = 10;
const gap = 2;

/** Draws the counts of consecutive days. There is no text in the plot, so that it may be stretched. */
export function dayPlot(days: readonly DayCount[]): DayPlot {
  const top = Math.max(1, ...days.map(({ created }) => created));
  const barOf = (count: number, index: number): Bar => {
    const length = Math.round((count / top) * height * 10) / 10;
    return { x: index * step + gap / 2, y: height - length, width: step - gap, height: length };
  };
  return {
    width: days.length * step,
    height,
    created: days.map(({ created }, index) => barOf(created, index)),
    committed: days.map(({ committed }, index) => barOf(committed, index)),
    top,
  };
}
