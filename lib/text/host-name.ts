/**
 * A host as the WHATWG URL parser writes it. The parser lets more pass, such as `*`, `;` and `"`: those mean
 * something else in a Content-Security-Policy, and no name server has them.
 */
export const hostName = /^([\w.-]+|\[[\da-f:.]+\])$/;

/**
 * Whether a name can stand in a path: RFC 3986 §5.2.4 removes the segments `.` and `..` from paths, which
 * clients do before they send, and proxies after they have decoded `%2F` and `%5C`.
 */
export function canStandInPath(name: string): boolean {
  return !name.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');
}

/**
 * Whether a host is this machine, so that connections to it never leave it.
 * @param host of a setting or a URL.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
