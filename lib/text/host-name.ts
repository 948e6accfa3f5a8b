/**
 * A host as the WHATWG URL parser writes it. The parser lets more pass, such as `*`, `;` and `"`: those mean
 * something else in a Content-Security-Policy, and no name server has them.
 */
export const hostName = /^([\w.-]+|\[[\da-f:.]+\])$/;
