import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that systems give to outgoing connections (from 32768 on Linux): one of them would be taken again before anybody listens. */
const first = 15_000;
const last = 32_000;
const mostTries = 100;
const given = new Set<number>();

/** A port of 127.0.0.1 that was free a moment ago, for a program that cannot choose one itself; no one twice. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const port = randomInt(first, last);
    if (given.has(port)) continue;
    // Before the check, which others do meanwhile: two that drew the same port would both find it free.
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`There is no free port between ${first} and ${last}.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
