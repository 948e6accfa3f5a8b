/**
 * A setting as a message may show it: an address without the credentials in it, whether or not it is one that can be read.
 * What stands before the last `@` may be a password with any character in it; a query may hold one by name.
 */
export function maskCredentials(text: string): string {
  return text.replace(/^([a-z][a-z\d+.-]*:\/*)?.*@/is, '$1***@').replace(/[?#].+$/s, '?***');
}
