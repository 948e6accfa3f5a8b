import type { PostedForm } from '../../pages/form.ts';
import type { Edited } from '../../pages/merge.ts';
import { arrangeRows, type RowFocus } from '../../pages/rows.ts';
import type { Layout } from './layout-values.ts';

/** What a button of the designer has done; it saves nothing. */
export interface Changed {
  layout: Edited;
  /** The row of elements or the field that gets the focus. */
  focus?: RowFocus | { field: string };
}

/**
 * Carries out a button of the designer.
 * @param op such as `up:2`, `add:processing.001`. Unknown ones change nothing.
 * @param posted has the fields beside the buttons: the places to move rows to.
 */
export function applyOp(layout: Layout, op: string, posted: PostedForm): Changed {
  const { elements } = layout;
  const arranged = arrangeRows(op, elements.length, posted);
  if (arranged) {
    const { order, focus = order.length === 0 ? { field: 'word' } : undefined } = arranged;
    return {
      layout: withElements(
        layout,
        order.map((row) => elements[row] as string),
      ),
      focus,
    };
  }
  const [act = '', ...rest] = op.split(':');
  const given = rest.join(':');
  switch (act) {
    case 'dropped':
      // The fields arrive in their new order.
      return { layout, focus: { row: Number(given), button: 'up' } };
    case 'add':
      return add(layout, given);
    case 'search':
      return { layout, focus: { field: 'word' } };
    default:
      return { layout };
  }
}

function withElements({ languages, values }: Edited, elements: readonly string[]): Edited {
  return { languages, values: { ...values, elements } };
}

function add(layout: Layout, reference: string): Changed {
  if (reference === '' || layout.elements.includes(reference)) return { layout };
  const elements = [...layout.elements, reference];
  return { layout: withElements(layout, elements), focus: { row: elements.length - 1, button: 'up' } };
}
