import { release } from '../organisation.ts';
import { expectThat, type Scenario, waitUntil } from '../scenario.ts';
import { withoutLoss } from './under-load.ts';

/**
 * A program for Node.js that makes the first process of its container allocate 2 GiB, through the inspector,
 * which SIGUSR1 opens on the loopback interface. The first process itself has to exceed the limit: of several
 * processes, cgroup v1 kills only the largest one.
 */
const program = `
const allocate = 'globalThis.all = []; setInterval(() => all.length < 64 && all.push(Buffer.alloc(32 << 20, 1)), 20)';
process.kill(1, 'SIGUSR1');
setTimeout(() => process.exit(1), 30_000);
const open = async () => {
  const targets = await fetch('http://127.0.0.1:9229/json').then((answer) => answer.json(), () => undefined);
  if (!targets) return setTimeout(open, 50);
  const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
  socket.onopen = () =>
    socket.send(JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: allocate } }));
  socket.onmessage = () => console.log('allocates');
};
open();
`;

interface ContainerState {
  restartCount: number;
  lastState: { terminated?: { reason: string; exitCode: number } };
}

/** What happens at the memory limit of the chart. */
export const memoryScenario: Scenario = {
  name: 'memory limit',
  promise:
    'A process of transactions that exceeds its memory limit is killed and restarted in its pod, and no acknowledged answer is lost or stored twice.',
  async run(stage) {
    const { kubectl } = stage.organisation;
    const selector = '--selector=app.kubernetes.io/component=transactions';
    const [pod = ''] = (await kubectl('get', 'pods', selector, '--output=name')).trim().split('\n');
    const readState = async () => {
      const output = await kubectl('get', pod, '--output=jsonpath={.status.containerStatuses[0]}');
      return JSON.parse(output) as ContainerState;
    };
    const { restartCount } = await readState();
    const figures = await withoutLoss(stage, async () => {
      // The command is killed with its container.
      await kubectl('exec', pod, '--', 'node', '--eval', program).catch(() => '');
      await waitUntil('a restart', async () => (await readState()).restartCount > restartCount);
      await kubectl('rollout', 'status', `deploy/${release}-transactions`, '--timeout=180s');
    });
    const { lastState } = await readState();
    const { reason, exitCode } = lastState.terminated ?? {};
    expectThat(exitCode === 137, `the container ended otherwise: ${JSON.stringify(lastState)}`);
    return `${reason}, exit code ${exitCode}; ${figures}`;
  },
};
