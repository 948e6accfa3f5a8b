/** Gives what was made of `source` for `reader` before, or makes it. */
export type RememberedByIdentity<Source extends object, Reader extends object, T> = (
  source: Source,
  reader: Reader,
  make: () => T,
) => T;

/**
 * Keeps what is made of objects that never change, as long as they live. An object that is not frozen may change: what is made of it
 * is not kept.
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
