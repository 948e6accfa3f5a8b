import { connect } from 'node:net';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import type { LocalServer } from './local-server.ts';
import { execute } from './programs.ts';

interface Container {
  image: string;
  /** The port that the program listens on inside. */
  port: number;
  addressOf(port: number): string;
  /** What `docker run` is given besides; {port} is the port outside. */
  settings: readonly string[];
}

const readyMs = 60_000;

/**
 * Starts a server in a container, where a Docker daemon answers: that its client is installed proves nothing.
 */
export async function startInDocker({ image, port, addressOf, settings }: Container): Promise<LocalServer> {
  await execute('docker', ['version'], { timeout: 2_000 }).catch(() => {
    throw new Error('no Docker daemon answers');
  });
  const outside = await freePort();
  const given = settings.map((each) => each.replaceAll('{port}', String(outside)));
  const { stdout } = await execute('docker', [
    'run',
    '--rm',
    '-d',
    '-p',
    `127.0.0.1:${outside}:${port}`,
    ...given,
    image,
  ]);
  const id = stdout.trim();
  const docker = async (...words: string[]) => void (await execute('docker', [...words, id]));
  await answers(outside);
  return {
    address: addressOf(outside),
    pid: () => undefined,
    kill: () => docker('kill'),
    pause: () => void docker('pause'),
    resume: () => void docker('unpause'),
    launch: () => docker('start'),
    stop: () => docker('rm', '-f'),
  };
}

async function answers(port: number): Promise<void> {
  const until = Date.now() + readyMs;
  while (Date.now() < until) {
    const open = await new Promise<boolean>((done) => {
      const socket = connect(port, '127.0.0.1', () => done(true)).once('error', () => done(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error('the container did not answer');
}
