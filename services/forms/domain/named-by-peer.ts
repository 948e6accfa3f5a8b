import { formatReference } from './element-reference.ts';
import type { ModelType } from './model.ts';
import type { NamedEntry } from './resolve-layout.ts';

/** What a peer shares, as layouts name it. */
export function namedByPeer(entry: { id: string; key: string; host: string; type: ModelType }): NamedEntry {
  const { id, type } = entry;
  return { id, type, key: formatReference(entry), status: 'ACTIVE', isDefault: false, ofPeer: true };
}
