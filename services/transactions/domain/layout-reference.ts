import type { LayoutReference } from '#lib/contracts/forms.ts';
import type { ConsentContext } from './context.ts';

/** What forms must know of a context to resolve its layout, and no more: the rest is nobody's business there. */
export function layoutReference({ layout, layoutData, theme }: ConsentContext): LayoutReference {
  return { layout, layoutData, theme };
}
