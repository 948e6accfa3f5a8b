import { createServer } from 'node:http';
import { isMainThread } from 'node:worker_threads';

/**
 * Preloaded into the process under test (`node --import`). Measures how much CPU time one turn of the event
 * loop takes, and all turns together: that is how long everybody else waits, and it does not depend on what
 * else the machine does.
 */
const socket = process.env.LOOP_PROBE;
if (socket && isMainThread) {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let longest = 0;
  let before = cpuMs();
  let since = before;
  const measure = () => {
    const now = cpuMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  setInterval(measure, 1).unref();
  createServer((_request, response) => {
    measure();
    response.end(JSON.stringify({ longest, total: before - since }));
    longest = 0;
    since = before;
  })
    .listen(socket)
    .unref();
}
