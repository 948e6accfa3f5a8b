import { LRUCache } from 'lru-cache';

const most = 500;
/** Longer values are nobody's habit, and would only fill the memory. */
const longest = 300;

/** Clients send the same few values of a header again and again: what was read from one is kept. @param read must be pure. */
export function rememberByHeader<T extends object | string>(
  read: (value: string) => T,
): (value: string) => T {
  const known = new LRUCache<string, T>({ max: most });
  return (value) => {
    const found = known.get(value);
    if (found !== undefined) return found;
    const made = read(value);
    if (value.length <= longest) known.set(value, made);
    return made;
  };
}
