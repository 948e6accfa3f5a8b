import type { ConsoleReader } from './console-reader.ts';
import type { PostedForm } from './form.ts';

/** The row, and its button, that has the focus when the page is shown again. */
export interface RowFocus {
  row: number;
  button: 'up' | 'down' | 'remove';
}

/** The rows of a list, by their places before, and the row that gets the focus; none in an empty list. */
interface Arranged {
  order: number[];
  focus?: RowFocus;
}

/**
 * Carries out a button of a row: `up:2`, `down:2`, `remove:2`, or `place:2` with the field of that name.
 * @param count how many rows there are. @returns undefined for other buttons.
 */
export function arrangeRows(op: string, count: number, posted: PostedForm): Arranged | undefined {
  const [, act, given] = /^(up|down|place|remove):(\d+)$/.exec(op) ?? [];
  const row = Number(given);
  const order = Array.from({ length: count }, (_, index) => index);
  switch (act) {
    case 'up':
      return moveTo(order, row, row - 1);
    case 'down':
      return moveTo(order, row, row + 1);
    case 'place':
      return moveToPlace(order, row, posted[op]?.[0]);
    case 'remove': {
      const left = order.filter((each) => each !== row);
      if (left.length === 0) return { order: left };
      return { order: left, focus: { row: Math.min(row, left.length - 1), button: 'remove' } };
    }
    default:
      return undefined;
  }
}

function moveTo(order: readonly number[], row: number, to: number): Arranged {
  if (order[row] === undefined || order[to] === undefined) return { order: [...order] };
  return {
    order: order.toSpliced(row, 1).toSpliced(to, 0, row),
    focus: { row: to, button: to < row ? 'up' : 'down' },
  };
}

/** A place, counted from 1, beyond the ends of the list is its end; without a number nothing moves. */
function moveToPlace(order: readonly number[], row: number, typed = ''): Arranged {
  const place = Math.trunc(Number(typed));
  if (typed === '' || Number.isNaN(place)) return { order: [...order], focus: { row, button: 'up' } };
  return moveTo(order, row, Math.min(Math.max(place, 1), order.length) - 1);
}

/** The buttons of a row, as the mixin `+rowButtons` prints them. @param name of the row, for their labels. */
export function rowButtons(
  { t }: ConsoleReader,
  name: string,
  { row, count, focus }: { row: number; count: number; focus: RowFocus | undefined },
) {
  const focused = focus?.row === row ? focus.button : undefined;
  // At an end of the list a button has no use; its neighbour gets the focus.
  const up = row > 0;
  const down = row < count - 1;
  const target = focused === 'up' && !up ? 'down' : focused === 'down' && !down ? 'up' : focused;
  const words = { name, place: row + 1, count };
  return {
    up: up && { value: `up:${row}`, label: t('rows.upNamed', words), isFocused: target === 'up' },
    down: down && { value: `down:${row}`, label: t('rows.downNamed', words), isFocused: target === 'down' },
    remove: {
      value: `remove:${row}`,
      label: t('rows.removeNamed', words),
      isFocused: target === 'remove' || (target !== undefined && !up && !down),
    },
  };
}
