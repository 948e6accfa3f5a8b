import { LRUCache } from 'lru-cache';

const most = 500;
/** Longer texts are nobody's habit, and would only fill the memory. */
const longest = 300;

/** The same few texts come again and again (headers, durations): what was read from one is kept. @param read must be pure. */
export function rememberByText<T extends object | string>(read: (text: string) => T): (text: string) => T {
  const known = new LRUCache<string, T>({ max: most });
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = read(text);
    if (text.length <= longest) known.set(text, made);
    return made;
  };
}
