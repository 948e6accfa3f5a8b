const longest = 255;
/** It stands in sentences of others: it must not turn them round (UAX #9), and must be seen. */
const unfit = /[\p{Cc}\p{Bidi_Control}]/u;
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u;

/** Whether people of other instances can be shown this name (docs/federation.md, "Who an instance is"). */
export function isInstanceName(name: string): boolean {
  return [...name.trim()].length <= longest && name.isWellFormed() && visible.test(name) && !unfit.test(name);
}
