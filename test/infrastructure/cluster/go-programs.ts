import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cached } from '../cache-folder.ts';
import { execute, findProgram, MissingInfrastructure, tell } from '../programs.ts';

/** The version of Kubernetes that the node runs. */
export const kubernetesVersion = '1.36.3';
export const coreDnsVersion = '1.14.0';
export const metricsServerVersion = '0.9.0';
/**
 * An Ingress controller that also implements the Gateway API: the newest version whose dependencies the Go
 * proxy has.
 */
export const traefikVersion = '3.5.4';
const gatewayApi = 'sigs.k8s.io/gateway-api';

const environment = {
  ...process.env,
  CGO_ENABLED: '0',
  GOTOOLCHAIN: 'local',
  GOFLAGS: '-buildvcs=false -modcacherw -trimpath -mod=mod',
};
const strip = '-s -w';

/**
 * Programs that are built from their Go modules, each in a folder of the cache: no release of them is in a
 * package registry. The first build takes about 15 minutes on two cores.
 * @throws MissingInfrastructure
 */
export async function buildGoPrograms(say: (line: string) => void) {
  if (!findProgram('go'))
    throw new MissingInfrastructure(
      'Kubernetes',
      ['there is no go'],
      'apt-get install golang, 1.26 or later',
    );
  try {
    const build = (name: string, make: (folder: string) => Promise<void>) =>
      cached(name, async (folder) => {
        say(`building ${name}`);
        await make(folder);
      });
    return {
      kubernetes: await build(`kubernetes-${kubernetesVersion}`, buildKubernetes),
      coreDns: await build(`coredns-${coreDnsVersion}`, (folder) =>
        installGoProgram(folder, `github.com/coredns/coredns@v${coreDnsVersion}`),
      ),
      metricsServer: await build(`metrics-server-${metricsServerVersion}`, (folder) =>
        installGoProgram(folder, `sigs.k8s.io/metrics-server/cmd/metrics-server@v${metricsServerVersion}`),
      ),
      traefik: await build(`traefik-${traefikVersion}`, buildTraefik),
      pause: await build('pause-1', buildPause),
    };
  } catch (error) {
    throw new MissingInfrastructure('Kubernetes', [tell(error)], 'the Go module proxy must be reachable');
  }
}

/** @returns the folder of the sources of a module, downloaded. */
async function downloadModule(module: string, version: string): Promise<string> {
  const { stdout } = await go(['mod', 'download', '-json', `${module}@${version}`], tmpdir());
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/**
 * Files with CustomResourceDefinitions: those of the Gateway API, in the version that Traefik is built with,
 * and Traefik's own.
 */
export async function routerDefinitions(): Promise<string[]> {
  const sources = await downloadModule('github.com/traefik/traefik/v3', `v${traefikVersion}`);
  const required = (await readFile(path.join(sources, 'go.mod'), 'utf8')).match(
    new RegExp(`${gatewayApi} (v\\S+)`),
  );
  if (!required?.[1]) throw new Error('Traefik requires no Gateway API');
  return [
    path.join(await downloadModule(gatewayApi, required[1]), 'config/crd/standard'),
    path.join(sources, 'docs/content/reference/dynamic-configuration/kubernetes-crd-definition-v1.yml'),
  ];
}

/**
 * The module k8s.io/kubernetes replaces its staging modules by folders of its repository. A module of our own
 * replaces them by their published versions instead.
 */
async function buildKubernetes(folder: string): Promise<void> {
  const sources = await downloadModule('k8s.io/kubernetes', `v${kubernetesVersion}`);
  const upstream = await readFile(path.join(sources, 'go.mod'), 'utf8');
  const [, minor = '', patch = ''] = kubernetesVersion.split('.');
  const staged = [...upstream.matchAll(/^\t(k8s\.io\/[a-z0-9-]+) => \.\/staging\//gm)].map(
    ([, name]) => name,
  );
  const language = upstream.match(/^go (\S+)$/m)?.[1] ?? '';
  const version = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap((name) => [
    `-X ${name}.gitVersion=v${kubernetesVersion}`,
    `-X ${name}.gitMajor=1`,
    `-X ${name}.gitMinor=${minor}`,
    `-X ${name}.gitTreeState=clean`,
    `-X ${name}.gitCommit=${'0'.repeat(40)}`,
    `-X ${name}.buildDate=1970-01-01T00:00:00Z`,
  ]);
  await inModule(
    `module kubernetes

go ${language}

godebug default=go${language.split('.').slice(0, 2).join('.')}

require k8s.io/kubernetes v${kubernetesVersion}

replace (
${staged.map((name) => `\t${name} => ${name} v0.${minor}.${patch}`).join('\n')}
)
`,
    await readFile(path.join(sources, 'go.sum'), 'utf8'),
    async (work) => {
      const programs = [
        'kube-apiserver',
        'kube-controller-manager',
        'kube-scheduler',
        'kubelet',
        'kube-proxy',
        'kubectl',
      ];
      const commands = programs.map((name) => `k8s.io/kubernetes/cmd/${name}`);
      await go(['build', '-ldflags', [strip, ...version].join(' '), '-o', `${folder}/`, ...commands], work);
    },
  );
}

/**
 * Traefik cannot be installed as a module, because it replaces some of its dependencies. Its sources are
 * copied.
 */
async function buildTraefik(folder: string): Promise<void> {
  const sources = await downloadModule('github.com/traefik/traefik/v3', `v${traefikVersion}`);
  const work = await mkdtemp(path.join(tmpdir(), 'accord-go-'));
  try {
    await execute('cp', ['-r', '--no-preserve=mode', `${sources}/.`, work]);
    // The dashboard is built by npm; an empty one is enough.
    await mkdir(path.join(work, 'webui/static'), { recursive: true });
    await writeFile(path.join(work, 'webui/static/index.html'), '');
    await go(['build', '-ldflags', strip, '-o', path.join(folder, 'traefik'), './cmd/traefik'], work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** The process that keeps the namespaces of a pod. */
const pauseSource = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	<-stop
}
`;

function buildPause(folder: string): Promise<void> {
  return inModule('module pause\n\ngo 1.24\n', '', async (work) => {
    await writeFile(path.join(work, 'main.go'), pauseSource);
    await go(['build', '-ldflags', strip, '-o', path.join(folder, 'pause'), '.'], work);
  });
}

/** Installs a program with its version, `module@version`, into a folder. @param flags of the linker. */
export async function installGoProgram(folder: string, command: string, flags = strip): Promise<void> {
  await execute('go', ['install', '-ldflags', flags, command], {
    env: { ...environment, GOBIN: folder, GOFLAGS: '-buildvcs=false -modcacherw -trimpath' },
    cwd: tmpdir(),
    maxBuffer: 1 << 26,
  });
}

async function inModule(module: string, sums: string, run: (work: string) => Promise<void>): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-go-'));
  try {
    await writeFile(path.join(work, 'go.mod'), module);
    await writeFile(path.join(work, 'go.sum'), sums);
    await run(work);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function go(words: readonly string[], cwd: string) {
  return execute('go', words, { env: environment, cwd, maxBuffer: 1 << 26 });
}
