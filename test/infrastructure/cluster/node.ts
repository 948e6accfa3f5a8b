import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execute } from '../programs.ts';
import { createClusterCertificates } from './certificates.ts';
import type { NodeImage } from './images.ts';

const script = fileURLToPath(new URL('node.sh', import.meta.url));
/** Addresses of the node, of pods and of Services, which the host reaches through the node. */
const networks = ['10.200.0.0/24', '10.244.0.0/16', '10.96.0.0/16'];

/** A node that runs. */
export interface ClusterNode {
  kubeconfig: string;
  /** The folder of data, certificates and logs. */
  state: string;
  /** The first process of the node, as this machine numbers it. */
  init: string;
  /** Runs a program in the namespaces of the node. */
  enter(command: string, words: readonly string[], namespaces?: readonly string[]): Promise<string>;
  /** Adds an image. */
  importImage(image: NodeImage): Promise<void>;
  stop(): Promise<void>;
}

type Enter = ClusterNode['enter'];

/**
 * Starts a Kubernetes node with its control plane in namespaces of this machine, where it changes nothing but
 * a network interface and routes to its addresses. Needs root, and the packages of packages.ts.
 * @param programs folder of the programs of Kubernetes.
 * @param images images that the node has from the start.
 */
export async function startNode(
  state: string,
  { programs, images }: { programs: string; images: readonly NodeImage[] },
): Promise<ClusterNode> {
  await endEarlierNode(state);
  await rm(state, { recursive: true, force: true });
  await mkdir(path.join(state, 'log'), { recursive: true });
  await createClusterCertificates(path.join(state, 'certificates'));
  const log = openSync(path.join(state, 'log/node.log'), 'w');
  const namespaces = ['--mount', '--cgroup', '--pid', '--net', '--uts', '--ipc'];
  const child = spawn(
    'unshare',
    [...namespaces, '--fork', '--kill-child=KILL', '--mount-proc', 'bash', script],
    {
      env: { ...process.env, STATE: state, PROGRAMS: programs },
      stdio: ['ignore', log, log],
      detached: true,
    },
  );
  await writeFile(path.join(state, 'pid'), String(child.pid));
  const stop = () => stopNode(child);
  try {
    const init = await findInit(child);
    const enter: Enter = async (command, words, of = ['-a']) => {
      const { stdout } = await execute('nsenter', ['-t', init, ...of, command, ...words], {
        maxBuffer: 1 << 28,
      });
      return stdout;
    };
    await connect(init);
    await waitFor(child, path.join(state, 'runtime-ready'));
    for (const image of images) await importImage(enter, image);
    await writeFile(path.join(state, 'images-ready'), '');
    await waitFor(child, path.join(state, 'ready'));
    return {
      kubeconfig: path.join(state, 'certificates/admin.kubeconfig'),
      state,
      init,
      enter,
      importImage: (image) => importImage(enter, image),
      stop,
    };
  } catch (error) {
    await stop();
    const reason = await readFile(path.join(state, 'log/node.log'), 'utf8');
    throw new Error(`the node does not start; the logs are in ${state}/log: ${reason.slice(-1_000)}`, {
      cause: error,
    });
  }
}

async function importImage(enter: Enter, { archive, names }: NodeImage): Promise<void> {
  const [first = '', ...others] = names;
  await enter('ctr', ['-n', 'k8s.io', 'images', 'import', archive]);
  for (const name of others) await enter('ctr', ['-n', 'k8s.io', 'images', 'tag', '--force', first, name]);
}

/** Ends a node whose program was killed. */
async function endEarlierNode(state: string): Promise<void> {
  const pid = await readFile(path.join(state, 'pid'), 'utf8').catch(() => undefined);
  const command = pid && (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
  if (command?.includes(script)) process.kill(Number(pid), 'SIGKILL');
}

/** Waits for the first process of the node. */
async function findInit(child: ChildProcess): Promise<string> {
  const own = await readlink('/proc/self/ns/net');
  for (;;) {
    if (child.exitCode !== null) throw new Error('the namespaces cannot be created: root is needed');
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').catch(() => '');
    const init = children.trim();
    if (init && (await readlink(`/proc/${init}/ns/net`).catch(() => own)) !== own) return init;
    await pause(50);
  }
}

/**
 * Connects the node to this machine. The blackhole keeps calls of a stopped node's addresses on this machine.
 */
async function connect(init: string): Promise<void> {
  for (const network of networks) await ip('route', 'replace', 'blackhole', network, 'metric', '4000');
  await ip('link', 'del', 'accord-host').catch(() => {});
  await ip('link', 'add', 'accord-host', 'type', 'veth', 'peer', 'name', 'accord-node');
  await ip('address', 'add', '10.200.0.1/24', 'dev', 'accord-host');
  await ip('link', 'set', 'accord-host', 'up');
  await ip('link', 'set', 'accord-node', 'netns', init);
  for (const network of networks.slice(1)) await ip('route', 'replace', network, 'via', '10.200.0.2');
}

async function stopNode(child: ChildProcess): Promise<void> {
  const ended = child.exitCode !== null || child.signalCode !== null;
  const exited = ended ? Promise.resolve() : new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
  await ip('link', 'del', 'accord-host').catch(() => {});
  for (const network of networks)
    await ip('route', 'del', 'blackhole', network, 'metric', '4000').catch(() => {});
  for (const controller of ['', ...(await readdir('/sys/fs/cgroup'))])
    for (const group of ['kubepods', 'k8s.io'])
      await removeGroups(path.join('/sys/fs/cgroup', controller, group));
}

/** Removes control groups that have no processes any more. */
async function removeGroups(folder: string): Promise<void> {
  if (existsSync(folder))
    await execute('find', [folder, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']).catch(() => {});
}

async function waitFor(child: ChildProcess, file: string): Promise<void> {
  const end = Date.now() + 300_000;
  while (!existsSync(file)) {
    if (child.exitCode !== null || Date.now() > end) throw new Error(`${path.basename(file)} is missing`);
    await pause(100);
  }
}

function ip(...words: string[]) {
  return execute('ip', words);
}
