import { createServer } from 'node:net';

/** Below those that the system gives to outgoing connections: a process that is started again finds its port free. */
const [least, most] = [12_000, 32_000];

/** So many different ports of 127.0.0.1 that nobody uses. */
export async function choosePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = least + Math.floor(Math.random() * (most - least));
    if (!ports.has(port) && (await isFree(port))) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(false));
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
  });
}
