import type { Fault } from '#lib/errors/fail.ts';
import type { LayoutContent } from './layout-content.ts';
import type { LayoutPointers } from './resolve-layout.ts';

/**
 * Parts of a layout that come later: notifications, and answers to peers' elements (`<key>@<host>`); openapi.yaml says so too.
 * @param withPeers the form is only looked at, or answers can be sent to peers.
 */
export function unavailableParts(
  { elements, info, notification }: LayoutContent,
  pointers: LayoutPointers,
  { withPeers }: { withPeers: boolean },
): Fault[] {
  const found = elements.flatMap((key, index) =>
    key.includes('@') && !withPeers ? [pointers.elements[index] ?? pointers.info] : [],
  );
  if (info?.includes('@') && !withPeers) found.push(pointers.info);
  if (notification !== undefined) found.push(pointers.info.replace(/info$/, 'notification'));
  return found.map((pointer) => ({
    pointer,
    code: 'not-available',
    detail: 'is not available on this instance yet',
  }));
}
