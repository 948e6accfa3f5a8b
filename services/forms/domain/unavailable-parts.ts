import type { Fault } from '#lib/errors/fail.ts';
import type { LayoutContent } from './layout-content.ts';
import type { LayoutPointers } from './resolve-layout.ts';

/** Parts of a layout that come later: peers' elements (`<key>@<host>`) and notifications; openapi.yaml says so too. */
export function unavailableParts(
  { elements, info, notification }: LayoutContent,
  pointers: LayoutPointers,
): Fault[] {
  const found = elements.flatMap((key, index) =>
    key.includes('@') ? [pointers.elements[index] ?? pointers.info] : [],
  );
  if (info?.includes('@')) found.push(pointers.info);
  if (notification !== undefined) found.push(pointers.info.replace(/info$/, 'notification'));
  return found.map((pointer) => ({
    pointer,
    code: 'not-available',
    detail: 'is not available on this instance yet',
  }));
}
