import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** An instance of its own, as `npm start` runs it. */
export interface DemoInstance {
  name: string;
  /** BASE_URL. */
  url: string;
  /** Resolves when it has ended. */
  ended: Promise<void>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('../../services/standalone.ts', import.meta.url));

/**
 * Starts an instance in a process of its own. @param port 0: a free one. @throws Error if it does not start;
 * why is on stderr.
 */
export async function startInstance({
  name,
  accent,
  port,
  folder,
}: {
  name: string;
  /** CONSOLE_ACCENT. */
  accent: string;
  port: number;
  folder: string;
}): Promise<DemoInstance> {
  const settings = {
    INSTANCE_NAME: name,
    CONSOLE_ACCENT: accent,
    PORT: String(port),
    DATA_DIR: folder,
    DEMO: 'true',
    LOG_LEVEL: 'warn',
  };
  // No setting of the environment: it would be one for all three.
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE, ...settings };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.pipe(process.stderr);
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  const url = await new Promise<string>((ready, failed) => {
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /^Accord is ready: (\S+)$/m.exec(said)?.[1];
      if (found) ready(found);
    });
    void ended.then(() => failed(new Error(`${name} did not start.`)));
  });
  return {
    name,
    url,
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
