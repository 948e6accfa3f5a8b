import { v7 } from 'uuid';
import { drawBytes } from '#lib/ids/draw-bytes.ts';

/** A UUID of version 7 (RFC 9562): ids made one after the other stand side by side in an index. */
export function newUuid(): string {
  return v7({ random: drawBytes() });
}
