import { LRUCache } from 'lru-cache';

/** Returns the cached value for `source` and `reader`, or makes it. */
export type RememberedByIdentity<Source extends object, Reader extends object, T> = (
  source: Source,
  reader: Reader,
  make: () => T,
) => T;

/**
 * Caches values made from immutable objects for as long as these live. A source that is not frozen may
 * change, so its value is not cached.
 */
export function rememberByIdentity<Source extends object, Reader extends object, T>(): RememberedByIdentity<
  Source,
  Reader,
  T
> {
  const byReader = new WeakMap<Reader, WeakMap<Source, T>>();
  return (source, reader, make) => {
    if (!Object.isFrozen(source)) return make();
    let known = byReader.get(reader);
    if (!known) {
      known = new WeakMap();
      byReader.set(reader, known);
    }
    let found = known.get(source);
    if (found === undefined) {
      found = make();
      known.set(source, found);
    }
    return found;
  };
}

/**
 * Reads files and folders of the product once, because they do not change while a process runs. Tests start
 * hundreds of instances in one process.
 */
export function rememberByUrls<Urls extends URL[], T>(read: (...urls: Urls) => T): (...urls: Urls) => T {
  const known = new Map<string, T>();
  return (...urls) => {
    const key = urls.join(' ');
    const found = known.get(key) ?? read(...urls);
    known.set(key, found);
    return found;
  };
}

const maxTexts = 500;
/** Longer texts are rare and would only fill the memory. */
const maxLength = 300;

/** Caches a pure function of texts that repeat, such as headers and durations. */
export function rememberByText<T extends object | string>(read: (text: string) => T): (text: string) => T {
  const known = new LRUCache<string, T>({ max: maxTexts });
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = read(text);
    if (text.length <= maxLength) known.set(text, made);
    return made;
  };
}
