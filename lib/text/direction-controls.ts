/** Embeddings and overrides (Unicode UAX 9): they show another text than the stored and signed one. */
const overrides = /[\u202a-\u202e]/g;
const isolates = /[\u2066-\u2069]/g;

/**
 * Removes the characters that give a text another order than its letters have. Isolates stay: Accord puts
 * them around values in texts from right to left.
 */
export function removeOverrides(text: string): string {
  return text.replaceAll(overrides, '');
}

/** {@link removeDirectionControls} in all texts of a JSON value; names of members stay. */
export function withoutDirectionControls<T>(value: T): T {
  if (typeof value === 'string') return removeDirectionControls(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutDirectionControls) as T;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, withoutDirectionControls(each)]),
  ) as T;
}

/** {@link removeOverrides}, and removes isolates: for texts of others, before Accord adds its own. */
export function removeDirectionControls(text: string): string {
  return removeOverrides(text).replaceAll(isolates, '');
}
