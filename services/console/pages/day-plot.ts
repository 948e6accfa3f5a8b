import type { ConsoleReader, PrintedTime } from './console-reader.ts';

/** What is counted of one day: a number, and the part of it that the plot fills. */
export interface PlottedDay {
  /** RFC 3339 date. */
  date: string;
  whole: number;
  part: number;
}

/** A rectangle of a plot, in the units of its view box. */
interface Bar {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A plot by day for the mixin `+dayPlot`: a frame for the whole, filled as far as the part goes. */
export interface DayPlot {
  width: number;
  height: number;
  whole: Bar[];
  part: Bar[];
  /** The greatest count, at the upper end of the plot. */
  top: string;
  from: PrintedTime;
  to: PrintedTime;
}

const height = 120;
/** Width of a day, and of the gap after it. */
const step = 10;
const gap = 2;

/** Draws consecutive days. There is no text in the plot, so that it may be stretched. */
export function dayPlot(reader: ConsoleReader, days: readonly PlottedDay[]): DayPlot {
  const top = Math.max(1, ...days.map(({ whole }) => whole));
  const barOf = (count: number, index: number): Bar => {
    const length = Math.round((count / top) * height * 10) / 10;
    return { x: index * step + gap / 2, y: height - length, width: step - gap, height: length };
  };
  return {
    width: days.length * step,
    height,
    whole: days.map(({ whole }, index) => barOf(whole, index)),
    part: days.map(({ part }, index) => barOf(part, index)),
    top: reader.number(top),
    from: reader.day(days[0]?.date ?? ''),
    to: reader.day(days.at(-1)?.date ?? ''),
  };
}
