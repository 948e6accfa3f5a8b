import { type Organisation, release, services } from './organisation.ts';

/** The public and the internal port of each service. */
export const servicePorts = services.flatMap((service) =>
  [8080, 8081].map((port) => `${release}-${service}:${port}`),
);
export const storePorts = ['trial-postgres:5432', 'trial-kafka:9092', 'trial-redis:6379'];

/** A program for Node.js that says which ports accept a connection within two seconds after the lookup. */
const program = `
const { connect } = require('node:net');
for (const target of process.argv.slice(1)) {
  const [host, port] = target.split(':');
  const socket = connect(Number(port), host);
  let timer = setTimeout(() => end('unresolved'), 10_000);
  const end = (what) => { clearTimeout(timer); socket.destroy(); console.log(target, what); };
  socket.on('connect', () => end('open')).on('error', ({ code }) => end(code)).on('lookup', (fault) => {
    if (fault) return;
    clearTimeout(timer);
    timer = setTimeout(() => end('blocked'), 2000);
  });
}
`;

/** The command of a container that probes targets, as `host:port`. */
export function probeCommand(targets: readonly string[]): string[] {
  return ['node', '--eval', program, '--', ...targets];
}

/**
 * Probes targets from a pod of a service.
 * @returns what became of each: open, blocked or the code of an error
 */
export async function probeFrom(
  { kubectl }: Organisation,
  service: string,
  targets: readonly string[],
): Promise<Map<string, string>> {
  return readStates(await kubectl('exec', `deploy/${release}-${service}`, '--', ...probeCommand(targets)));
}

/** Targets as pods of other namespaces name them. */
export function inNamespace(namespace: string, targets: readonly string[]): string[] {
  return targets.map((target) => target.replace(':', `.${namespace}.svc.cluster.local:`));
}

/** Whether policies have prevented a connection. A name that was not resolved shows nothing. */
export function isPrevented(state: string | undefined): boolean {
  return state === 'blocked' || state === 'ECONNREFUSED';
}

/** The lines of the probe: a target and its state. */
export function readStates(lines: string): Map<string, string> {
  return new Map(
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
}

export function tellStates(states: ReadonlyMap<string, string>): string {
  return [...states].map((pair) => pair.join(' ')).join(', ');
}
