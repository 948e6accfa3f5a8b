/** The parts of `element/<type>/<key>/<serial>` (docs/interface.md, "Terms"). */
export interface Identifier {
  type: string;
  key: string;
  serial: string;
}

export function formatIdentifier(type: string, key: string, serial: string): string {
  return `element/${type}/${key}/${serial}`;
}

/** Undefined for a text that is no identifier. */
export function parseIdentifier(text: string): Identifier | undefined {
  const [prefix, type, key, serial, ...rest] = text.split('/');
  if (prefix !== 'element' || !type || !key || !serial || rest.length > 0) return undefined;
  return { type, key, serial };
}

/** Clients of a later generation write `bloc/<any>/` before an identifier; it means the same (docs/interface.md). */
export function withoutBlocPrefix(name: string): string {
  if (!name.startsWith('bloc/')) return name;
  const end = name.indexOf('/', 'bloc/'.length);
  return end < 0 ? name : name.slice(end + 1);
}
