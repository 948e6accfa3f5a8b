/** Escapes a member name for a JSON pointer (RFC 6901 §3). */
export function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

const maxLength = 500;

/**
 * Shortens a pointer until a response can show it: names that clients chose may be of any length, and may
 * have characters that no other place stores. @returns the pointer, or that of the nearest enclosing value.
 */
export function boundedPointer(pointer: string): string {
  let shown = pointer;
  while (shown.length > maxLength || !shown.isWellFormed() || shown.includes('\0'))
    shown = shown.slice(0, shown.lastIndexOf('/'));
  return shown;
}

/**
 * A pointer into what a client has sent. Rules read members in their general form, so a fault may be
 * in the only item of a list that was sent as a text.
 * @param sent the parsed body; undefined if there is none.
 * @returns the pointer if it leads to a value, or to a member that is missing in an object; otherwise that
 * of the nearest value. A pointer that begins with a name that was not sent is about something else, such as
 * a stored version that is activated, and is left as it is.
 */
export function pointerInto(sent: unknown, pointer: string): string {
  const bounded = boundedPointer(pointer);
  const [, first = ''] = bounded.split('/');
  if (typeof sent !== 'object' || sent === null || !Object.hasOwn(sent, unescapePointer(first)))
    return bounded;
  let place = '';
  let value: unknown = sent;
  for (const token of bounded.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null) return place;
    const name = unescapePointer(token);
    const isSent = Object.hasOwn(value, name);
    if (!isSent && Array.isArray(value)) return place;
    place += `/${token}`;
    if (!isSent) return place;
    value = (value as Record<string, unknown>)[name];
  }
  return place;
}
