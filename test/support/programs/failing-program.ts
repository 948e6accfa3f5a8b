import { runProcess } from '#lib/runtime/run-process.ts';

/** A process that starts well and then fails, in the way that its argument says. */
const [way] = process.argv.slice(2);
const fault = Object.assign(new Error('what somebody answered\n    at somebody’s home'), {
  code: '23514',
  detail: 'what somebody answered',
});

/** For it 25 s are over at once, and no other time is. */
if (way === 'hang') {
  const { setTimeout: wait } = globalThis;
  globalThis.setTimeout = ((work: () => void, ms: number) =>
    wait(work, ms === 25_000 ? 1 : ms)) as typeof wait;
}

/** A stop that never ends. */
async function hang(): Promise<void> {
  process.stdout.write('stopping\n');
  return new Promise(() => {});
}

await runProcess(async () => {
  if (way === 'start') throw fault;
  setImmediate(() => {
    if (way === 'hang') {
      setInterval(() => {}, 60_000);
      return void process.kill(process.pid, 'SIGTERM');
    }
    if (way === 'throw') throw fault;
    void Promise.reject(way === 'text' ? 'what somebody answered' : fault);
  });
  return { stop: way === 'hang' ? hang : async () => {} };
});
