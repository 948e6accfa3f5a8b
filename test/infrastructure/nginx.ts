import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startDaemon } from './daemon.ts';
import { findDistributionProgram } from './distribution-program.ts';
import { runLocalDaemon } from './local-daemon.ts';
import type { LocalServer } from './local-server.ts';
import { makeWorkFolder } from './work-folder.ts';

const nginx = {
  name: 'nginx',
  aptPackage: 'nginx',
  file: 'usr/sbin/nginx',
  help: 'apt-get install nginx (or brew install nginx)',
};
const configuration = new URL('../../deploy/nginx.conf', import.meta.url);

/** Public ports of the replicas of each service, on 127.0.0.1. */
export type Upstreams = Readonly<Record<string, readonly number[]>>;

/**
 * Starts nginx with deploy/nginx.conf. Only addresses, ports and temporary folders are replaced. @throws
 * MissingInfrastructure
 */
export async function startLocalNginx(port: number, upstreams: Upstreams): Promise<LocalServer> {
  const { command, environment } = await findDistributionProgram(nginx);
  const work = await makeWorkFolder('nginx');
  const file = path.join(work.path, 'nginx.conf');
  const log = path.join(work.path, 'nginx.log');
  await writeFile(
    file,
    localConfiguration(await readFile(configuration, 'utf8'), { port, upstreams, folder: work.path }),
  );
  const start = () =>
    startDaemon({
      // Else it opens the log of the distribution before it reads the file.
      command: [command, '-e', log, '-c', file, '-g', 'daemon off;'],
      ...(environment ? { environment } : {}),
      log,
      port,
      readyMs: 20_000,
    });
  return runLocalDaemon({ address: `http://localhost:${port}`, work, start });
}

function localConfiguration(
  text: string,
  { port, upstreams, folder }: { port: number; upstreams: Upstreams; folder: string },
): string {
  return (
    text
      .replaceAll('/tmp/', `${folder}/`)
      .replace(/^\s*listen 8080 /m, `listen 127.0.0.1:${port} `)
      // Names are Docker's; `resolve` needs nginx 1.27.3, and Debian has an older one.
      .replace(/^\s*resolver .*$/m, '')
      .replaceAll(/server (\w+):8080 resolve max_fails=0;/g, (_, service: string) =>
        (upstreams[service] ?? []).map((each) => `server 127.0.0.1:${each} max_fails=0;`).join(' '),
      )
  );
}
