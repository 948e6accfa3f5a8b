import type { Daemon } from './daemon.ts';
import type { LocalServer } from './local-server.ts';
import type { WorkFolder } from './work-folder.ts';

/** A {@link LocalServer} that is a daemon of ours. @param start starts it; called again for each launch. */
export async function runLocalDaemon({
  address,
  work,
  start,
}: {
  address: string;
  work: WorkFolder;
  start: () => Promise<Daemon>;
}): Promise<LocalServer> {
  let daemon = await start();
  return {
    address,
    pid: () => daemon.pid,
    async kill() {
      process.kill(daemon.pid, 'SIGKILL');
      await daemon.ended;
    },
    pause: () => void process.kill(daemon.pid, 'SIGSTOP'),
    resume: () => void process.kill(daemon.pid, 'SIGCONT'),
    async launch() {
      daemon = await start();
    },
    async stop() {
      await daemon.stop();
      await work.remove();
    },
  };
}
