import type { Fault } from '#lib/errors/fail.ts';
import type { LayoutContent } from './layout-content.ts';
import type { LayoutPointers } from './resolve-layout.ts';

/** Parts of a layout that come later: notifications; openapi.yaml says so too. */
export function unavailableParts({ notification }: LayoutContent, { info }: LayoutPointers): Fault[] {
  if (notification === undefined) return [];
  const pointer = info.replace(/info$/, 'notification');
  return [{ pointer, code: 'not-available', detail: 'is not available on this instance yet' }];
}
