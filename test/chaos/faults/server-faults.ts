import type { LocalServer } from '../../../deploy/local/local-server.ts';
import { atOnce, type Fault, formAndSubmit } from './fault.ts';

/** What happens to Kafka or Redis; what subjects do goes on. */
export function serverFaults(name: string, server: LocalServer): Fault[] {
  const broken = { breaks: name, promised: formAndSubmit };
  return [
    {
      ...{ ...broken, name: `${name} down`, lasts: [1_000, 10_000] },
      async strike() {
        await server.kill();
        return server.launch;
      },
    },
    {
      ...{ ...broken, name: `${name} restarted`, lasts: atOnce },
      async strike() {
        await server.kill();
        return server.launch;
      },
    },
    {
      ...{ ...broken, name: `${name} paused`, lasts: [1_000, 10_000] },
      async strike() {
        server.pause();
        return async () => server.resume();
      },
    },
  ];
}
