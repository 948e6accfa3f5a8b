import { once } from 'node:events';
import { connect } from 'node:net';
import type { LocalServer } from '../../../deploy/local/local-server.ts';
import { atOnce, type Fault, formAndSubmit } from './fault.ts';
import { serverFaults } from './server-faults.ts';

/** What happens to Redis: it may go, and all that it holds. */
export function redisFaults(redis: LocalServer): Fault[] {
  return [
    ...serverFaults('Redis', redis),
    {
      ...{ name: 'Redis flushed', breaks: 'Redis', lasts: atOnce, promised: formAndSubmit },
      async strike() {
        await flush(new URL(redis.address));
        return async () => {};
      },
    },
  ];
}

async function flush({ hostname, port }: URL): Promise<void> {
  const socket = connect(Number(port), hostname);
  socket.write('FLUSHALL\r\n');
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  if (!reply.toString().startsWith('+OK')) throw new Error(`FLUSHALL: ${reply}`);
}
