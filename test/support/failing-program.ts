import { runProcess } from '#lib/lifecycle/run-process.ts';

/** A process that starts well and then fails, in the way that its argument says. */
const [way] = process.argv.slice(2);
const fault = Object.assign(new Error('what somebody answered\n    at somebody’s home'), {
  code: '23514',
  detail: 'what somebody answered',
});

await runProcess(async () => {
  if (way === 'start') throw fault;
  setImmediate(() => {
    if (way === 'throw') throw fault;
    void Promise.reject(way === 'text' ? 'what somebody answered' : fault);
  });
  return { stop: async () => {} };
});
