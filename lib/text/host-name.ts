/**
 * A host as the WHATWG URL parser writes it. The parser lets more pass, such as `*`, `;` and `"`: those mean
 * something else in a Content-Security-Policy, and no name server has them.
 */
export const hostName = /^([\w.-]+|\[[\da-f:.]+\])$/;

/**
 * Whether a host is this machine, so that connections to it never leave it.
 * @param host of a setting or a URL.
 */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
