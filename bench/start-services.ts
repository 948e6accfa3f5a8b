import { freePort } from '#lib/db/embedded/postmaster.ts';
import { imageOptions } from '../test/infrastructure/image-options.ts';
import { type ServerProcess, startServer } from './start-server.ts';

/** One process of each service. */
export interface Services {
  /** Public port of each. */
  ports: Readonly<Record<string, number>>;
  pids: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const names = ['auth', 'forms', 'transactions', 'peers', 'webhooks'] as const;

/**
 * Starts every service as a process of its own. Every request of the flow goes to `transactions` (its prefix
 * is /consents), so a router would only add its own cost: the driver goes there itself.
 * @param profiles folder for CPU profiles, one a process.
 */
export async function startServices(
  environment: Record<string, string>,
  profiles?: string,
): Promise<Services> {
  const places = await Promise.all(
    names.map(async (name) => ({ name, port: await freePort(), internalPort: await freePort() })),
  );
  const neighbours = Object.fromEntries(
    places.map(({ name, internalPort }) => [
      `${name.toUpperCase()}_INTERNAL_URL`,
      `http://127.0.0.1:${internalPort}`,
    ]),
  );
  const publicPort = places.find(({ name }) => name === 'transactions')?.port;
  const profiling = (name: string) =>
    profiles ? ['--cpu-prof', `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${name}.cpuprofile`] : [];
  const started = await Promise.allSettled(
    places.map(({ name, port, internalPort }) =>
      startServer(
        `services/${name}/main.ts`,
        {
          ...environment,
          ...neighbours,
          HOST: '127.0.0.1',
          BASE_URL: `http://localhost:${publicPort}`,
          PORT: String(port),
          INTERNAL_PORT: String(internalPort),
        },
        [...imageOptions, ...profiling(name)],
      ),
    ),
  );
  const running = started.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const stop = async () => void (await Promise.all(running.map((server) => server.stop())));
  const failed = started.find((each) => each.status === 'rejected');
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const byName = (of: (server: ServerProcess, index: number) => number) =>
    Object.fromEntries(running.map((server, index) => [names[index] as string, of(server, index)]));
  return {
    ports: byName((_server, index) => places[index]?.port ?? 0),
    pids: byName(({ pid }) => pid),
    stop,
  };
}
