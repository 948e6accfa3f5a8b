import { fileURLToPath } from 'node:url';
import { freePort } from '#lib/db/embedded/postmaster.ts';

const project = fileURLToPath(new URL('..', import.meta.url));

/** Tells which files of the product a running process has executed code of. */
export interface CoverageProbe {
  /**
   * Paths below the project of files in lib/ and services/ that ran since the last call, sorted. Loading a
   * file does not count.
   */
  take(): Promise<string[]>;
  stop(): void;
}

/** What the Chrome DevTools Protocol sends back for Profiler.takePreciseCoverage. */
interface Coverage {
  result: { url: string; functions: { ranges: { count: number; startOffset: number }[] }[] }[];
}

/** A port for the inspector, and the options that have a Node.js process listen there. */
export async function inspectorOptions(): Promise<{ port: number; NODE_OPTIONS: string }> {
  const port = await freePort();
  return { port, NODE_OPTIONS: `--inspect=127.0.0.1:${port}` };
}

/**
 * Counts, with V8's precise coverage, which functions a process calls.
 * @param port where the process's inspector listens.
 */
export async function startCoverage(port: number): Promise<CoverageProbe> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', reject, { once: true });
  });
  let lastId = 0;
  function call<T>(method: string, params: object = {}): Promise<T> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve) => {
      const read = ({ data }: MessageEvent) => {
        const message = JSON.parse(String(data)) as { id?: number; result: T };
        if (message.id !== id) return;
        socket.removeEventListener('message', read);
        resolve(message.result);
      };
      socket.addEventListener('message', read);
      socket.send(JSON.stringify({ id, method, params }));
    });
  }
  await call('Profiler.enable');
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return {
    async take() {
      const { result } = await call<Coverage>('Profiler.takePreciseCoverage');
      const ran = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]?.count));
      const paths = ran.map(({ url }) => url.replace(`file://${project}`, ''));
      return [...new Set(paths)].filter((path) => /^(lib|services)\//.test(path)).sort();
    },
    stop: () => socket.close(),
  };
}
